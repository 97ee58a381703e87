import { closeLanes, type LoadOutcome, openLanes, startLoad, type TimedResponse } from './open-loop.ts'
import type { BenchOptions } from './options.ts'
import { residentMb, untilQuiet } from './processes.ts'
import { OURS, startOurs } from './start-contenders.ts'
import { medianOf, p99Of } from './statistics.ts'
import type { Stores } from './stores.ts'

const CAPACITY_CONNECTIONS = 64
/** A large fleet of clients, each with one running request at most. */
export const OVERLOAD_CONNECTIONS = 2_000
/** How many times the capacity is offered. */
export const OVERLOAD_FACTOR = 4
/** What is offered when the overload is over, as a share of the capacity. */
const PROBE_SHARE = 0.5
const PROBE_SECONDS = 4
/** The length of a slice of the probe. */
const PROBE_STEP_MS = 100
export const PROBE_P99_MS_MAX = 50
const MEMORY_STEP_MS = 50
const WARM_UP_SECONDS = 2

export interface OverloadRound {
  /** Creates a second, over 64 connections that each send when they got a response. */
  capacity: number
  /** Of those, wrongly rejected below the capacity. In all. */
  rejectedBelow: number
  /** Each a second, while the overload lasted. */
  offered: number
  sent: number
  accepted: number
  rejected: number
  acceptedP50Ms: number
  acceptedP99Ms: number
  /** NaN when none was rejected. */
  rejectedP99Ms: number
  /** Neither accepted nor rejected with 50301. */
  otherwise: number
  memoryMb: { before: number; peak: number; after: number }
  /** Seconds from the end of the overload until everything is accepted, p99 < 50 ms, for good; 4 for not yet. */
  normalAfterSeconds: number
}

export interface OverloadReport {
  rounds: OverloadRound[]
}

/** Offers our service four times what it can do, and sees what becomes of it. */
export async function benchOverload(
  { rounds, seconds }: BenchOptions,
  stores: Stores,
): Promise<OverloadReport> {
  const ours = await startOurs(stores)
  const few = await openLanes(ours.url, CAPACITY_CONNECTIONS)
  const many = await openLanes(ours.url, OVERLOAD_CONNECTIONS)

  async function measureRound(): Promise<OverloadRound> {
    const alone = await startLoad({ lanes: few, seconds, perSecond: undefined }).outcome
    const capacity = alone.accepted.length / seconds
    await untilQuiet(OURS, ours.pid)
    const memory = watchMemory(ours.pid)
    const overload = startLoad({ lanes: many, seconds, perSecond: capacity * OVERLOAD_FACTOR })
    await overload.over
    const probe = await startLoad({
      lanes: few,
      seconds: PROBE_SECONDS,
      perSecond: capacity * PROBE_SHARE,
    }).outcome
    const outcome = await overload.outcome
    await untilQuiet(OURS, ours.pid)
    return {
      ...summaryOf(outcome, seconds),
      capacity,
      rejectedBelow: alone.rejected.length,
      memoryMb: memory.stop(),
      normalAfterSeconds: normalAfterMs(probe) / 1000,
    }
  }

  try {
    await startLoad({ lanes: few, seconds: WARM_UP_SECONDS, perSecond: undefined }).outcome
    await untilQuiet(OURS, ours.pid)
    const report: OverloadReport = { rounds: [] }
    for (let round = 1; round <= rounds; round++) {
      process.stderr.write(`overload: round ${round} of ${rounds}\n`)
      report.rounds.push(await measureRound())
    }
    return report
  } finally {
    closeLanes([...few, ...many])
    await ours.stop()
  }
}

function summaryOf({ offered, sent, accepted, rejected }: LoadOutcome, seconds: number) {
  const tookMs = (responses: readonly TimedResponse[]) => responses.map((response) => response.tookMs)
  return {
    offered: offered / seconds,
    sent: sent / seconds,
    accepted: accepted.length / seconds,
    rejected: rejected.length / seconds,
    acceptedP50Ms: medianOf(tookMs(accepted)),
    acceptedP99Ms: p99Of(tookMs(accepted)),
    rejectedP99Ms: p99Of(tookMs(rejected)),
    otherwise: sent - accepted.length - rejected.length,
  }
}

/** The end of the last slice of the probe in which one was rejected, or p99 was too long, or none was sent. */
function normalAfterMs({ accepted, rejected }: LoadOutcome): number {
  const slices = Array.from({ length: (PROBE_SECONDS * 1000) / PROBE_STEP_MS }, (): number[] => [])
  const record = (atMs: number, tookMs: number) => slices[Math.floor(atMs / PROBE_STEP_MS)]?.push(tookMs)
  for (const { atMs, tookMs } of accepted) record(atMs, tookMs)
  for (const { atMs } of rejected) record(atMs, Number.POSITIVE_INFINITY)
  const isBad = (slice: number[]) =>
    slice.length === 0 || slice.includes(Number.POSITIVE_INFINITY) || p99Of(slice) >= PROBE_P99_MS_MAX
  return (slices.findLastIndex(isBad) + 1) * PROBE_STEP_MS
}

function watchMemory(pid: number): { stop(): OverloadRound['memoryMb'] } {
  const before = residentMb(pid).now
  let peak = before
  const timer = setInterval(() => {
    peak = Math.max(peak, residentMb(pid).now)
  }, MEMORY_STEP_MS)
  return {
    stop() {
      clearInterval(timer)
      return { before, peak, after: residentMb(pid).now }
    },
  }
}
