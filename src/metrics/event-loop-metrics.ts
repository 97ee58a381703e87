import { Histogram, type Registry } from 'prom-client'

/** Often enough to meet most of what holds the event loop up, and a ten-thousandth of a core at most. */
const LOOK_EVERY_MS = 20

/** In seconds. Timers are a millisecond late as it is; from 0.1 s on every request feels it. */
const LAG_BUCKETS = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5]

/**
 * Measures by how much the event loop is late, again and again, in `registry`; returns what ends it. (The gauges of
 * prom-client begin anew at each scrape, so that two Prometheus servers spoil them for one another.)
 */
export function watchEventLoop(registry: Registry): () => void {
  const lag = new Histogram({
    name: 'plantstore_event_loop_lag_seconds',
    help: `By how much the event loop is late for a timer, looked at every ${LOOK_EVERY_MS} ms`,
    buckets: LAG_BUCKETS,
    registers: [registry],
  })
  let dueMs = performance.now() + LOOK_EVERY_MS
  const timer = setInterval(() => {
    const nowMs = performance.now()
    lag.observe(Math.max(nowMs - dueMs, 0) / 1000)
    dueMs = nowMs + LOOK_EVERY_MS
  }, LOOK_EVERY_MS)
  timer.unref()
  return () => clearInterval(timer)
}
