import { Histogram, type Registry } from 'prom-client'

/** Short enough to meet most of what blocks the event loop, at a ten-thousandth of a core. */
const SAMPLE_INTERVAL_MS = 20

/** In seconds. Timers are always about a millisecond late; from 0.1 s on every request is slower. */
const LAG_BUCKETS = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5]

/**
 * Samples the lag of the event loop until the returned function is called. The gauges of prom-client restart at each
 * scrape, so two Prometheus servers would spoil them for each other.
 */
export function watchEventLoop(registry: Registry): () => void {
  const lag = new Histogram({
    name: 'plantstore_event_loop_lag_seconds',
    help: `Lag of the event loop: lateness of a timer, every ${SAMPLE_INTERVAL_MS} ms`,
    buckets: LAG_BUCKETS,
    registers: [registry],
  })
  let dueMs = performance.now() + SAMPLE_INTERVAL_MS
  const timer = setInterval(() => {
    const nowMs = performance.now()
    lag.observe(Math.max(nowMs - dueMs, 0) / 1000)
    dueMs = nowMs + SAMPLE_INTERVAL_MS
  }, SAMPLE_INTERVAL_MS)
  timer.unref()
  return () => clearInterval(timer)
}
