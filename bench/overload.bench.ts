import { closeLanes, type LoadOutcome, openLanes, startLoad, type TimedAnswer } from './open-loop.ts'
import type { BenchOptions } from './options.ts'
import { residentMb, untilQuiet } from './processes.ts'
import { OURS, startOurs } from './start-contenders.ts'
import { medianOf, p99Of } from './statistics.ts'
import type { Stores } from './stores.ts'

const CAPACITY_CONNECTIONS = 64
/** A large fleet of clients, each with one request under way at most. */
export const OVERLOAD_CONNECTIONS = 2_000
/** How many times the capacity is offered. */
export const OVERLOAD_FACTOR = 4
/** What is offered when the overload is over, as a share of the capacity. */
const PROBE_SHARE = 0.5
const PROBE_SECONDS = 4
/** The probe is judged in pieces of so long. */
const PROBE_STEP_MS = 100
export const PROBE_P99_MS_MAX = 50
const MEMORY_STEP_MS = 50
const WARM_UP_SECONDS = 2

export interface OverloadRound {
  /** Creates a second, over 64 connections that each send when they got a response. */
  capacity: number
  /** Of those, wrongly refused: nothing was too much yet. In all. */
  refusedBelow: number
  /** Each a second, while the overload lasted. */
  offered: number
  sent: number
  accepted: number
  refused: number
  acceptedP50Ms: number
  acceptedP99Ms: number
  /** NaN when none was refused. */
  refusedP99Ms: number
  /** Neither accepted nor refused with 50301. */
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
      refusedBelow: alone.refused.length,
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

function summaryOf({ offered, sent, accepted, refused }: LoadOutcome, seconds: number) {
  const tookMs = (responses: readonly TimedAnswer[]) => responses.map((response) => response.tookMs)
  return {
    offered: offered / seconds,
    sent: sent / seconds,
    accepted: accepted.length / seconds,
    refused: refused.length / seconds,
    acceptedP50Ms: medianOf(tookMs(accepted)),
    acceptedP99Ms: p99Of(tookMs(accepted)),
    refusedP99Ms: p99Of(tookMs(refused)),
    otherwise: sent - accepted.length - refused.length,
  }
}

/** The end of the last piece of the probe in which one was refused, or p99 was too long, or none was sent. */
function normalAfterMs({ accepted, refused }: LoadOutcome): number {
  const pieces = Array.from({ length: (PROBE_SECONDS * 1000) / PROBE_STEP_MS }, (): number[] => [])
  const note = (atMs: number, tookMs: number) => pieces[Math.floor(atMs / PROBE_STEP_MS)]?.push(tookMs)
  for (const { atMs, tookMs } of accepted) note(atMs, tookMs)
  for (const { atMs } of refused) note(atMs, Number.POSITIVE_INFINITY)
  const isBad = (piece: number[]) =>
    piece.length === 0 || piece.includes(Number.POSITIVE_INFINITY) || p99Of(piece) >= PROBE_P99_MS_MAX
  return (pieces.findLastIndex(isBad) + 1) * PROBE_STEP_MS
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
