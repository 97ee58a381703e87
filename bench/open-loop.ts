import { once } from 'node:events'
import { createConnection, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { newPlantJson, TOKEN, takeIds } from './contender.ts'

/** How long the last responses are waited for. */
const PATIENCE_MS = 10_000
/** How often it is looked whether requests are due. */
const TICK_MS = 1
const OTHERS_LISTED_MAX = 3
/** The first digit of a status, and where it is in "HTTP/1.1 200". */
const STATUS_AT = 9
const TWO = '2'.charCodeAt(0)

/** Creates over a number of connections, each with one running request at most. */
export interface LoadPlan {
  lanes: readonly Lane[]
  seconds: number
  /** Creates a second at fixed times, whatever gets a response; undefined: each connection sends when it got a response. */
  perSecond: number | undefined
}

/** A connection, and the request that it sends with another id each time. */
export interface Lane {
  socket: Socket
  request: Buffer
  sentMs: number
}

/** A response: when its request was sent, in milliseconds from the beginning of the load, and how long it took. */
export interface TimedResponse {
  atMs: number
  tookMs: number
}

/** What became of the creates of a load; times count from sending. */
export interface LoadOutcome {
  /** Those whose time came. */
  offered: number
  sent: number
  accepted: TimedResponse[]
  /** With the code 50301. */
  rejected: TimedResponse[]
  /** The first other responses, and connections that broke. */
  others: string[]
  /** Sent, but without a response in time. */
  unfinished: number
}

/** A running load. */
export interface RunningLoad {
  /** Fulfils when the last request was sent. */
  over: Promise<void>
  /** Fulfils when the last one got a response. */
  outcome: Promise<LoadOutcome>
}

/** Opens connections one after the other, as no backlog of connections is what is measured. */
export async function openLanes(url: string, connections: number): Promise<Lane[]> {
  const { hostname, port, host } = new URL(url)
  const json = newPlantJson(takeIds())
  const request = `POST /plants HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${TOKEN}\r\nContent-Type: application/json\r\nContent-Length: ${json.length}\r\n\r\n${json}`
  const lanes: Lane[] = []
  for (let count = 0; count < connections; count++) {
    const socket = createConnection({ host: hostname, port: Number(port), noDelay: true })
    await once(socket, 'connect')
    lanes.push({ socket, request: Buffer.from(request), sentMs: 0 })
  }
  return lanes
}

export function closeLanes(lanes: readonly Lane[]): void {
  for (const { socket } of lanes) socket.destroy()
}

/** Puts a load on the service that the lanes lead to. */
export function startLoad({ lanes, seconds, perSecond }: LoadPlan): RunningLoad {
  const outcome: LoadOutcome = { offered: 0, sent: 0, accepted: [], rejected: [], others: [], unfinished: 0 }
  const free: Lane[] = [...lanes]
  const idAt = lanes[0]?.request.indexOf('{"id":') ?? 0
  const drained = Promise.withResolvers<void>()
  const begunMs = performance.now()
  let id = takeIds()
  let running = 0
  let isOver = false

  function send(lane: Lane): void {
    // In place: the id always has ten digits, and what was sent before has left the buffer, as it got a response.
    lane.request.write(String(id++), idAt + '{"id":'.length, 'latin1')
    lane.sentMs = performance.now()
    running++
    outcome.sent++
    lane.socket.write(lane.request)
  }

  function record(lane: Lane, response: Buffer): void {
    const timed = { atMs: lane.sentMs - begunMs, tookMs: performance.now() - lane.sentMs }
    if (response[STATUS_AT] === TWO) outcome.accepted.push(timed)
    else if (response.includes('"error":50301')) outcome.rejected.push(timed)
    else if (outcome.others.length < OTHERS_LISTED_MAX) outcome.others.push(response.toString('latin1'))
  }

  for (const lane of lanes) {
    lane.socket.removeAllListeners('data').on('data', (response: Buffer) => {
      running--
      record(lane, response)
      if (perSecond === undefined && !isOver) send(lane)
      else free.push(lane)
      if (isOver && running === 0) drained.resolve()
    })
    lane.socket.removeAllListeners('error').on('error', (error) => outcome.others.push(error.message))
  }

  async function offer(): Promise<void> {
    if (perSecond === undefined) {
      for (const lane of free.splice(0)) send(lane)
      await delay(seconds * 1000)
      outcome.offered = outcome.sent
    } else {
      for (const total = Math.floor(perSecond * seconds); outcome.offered < total; await delay(TICK_MS)) {
        const due = Math.min(total, ((performance.now() - begunMs) * perSecond) / 1000)
        for (; outcome.offered < due; outcome.offered++) {
          const lane = free.pop()
          if (lane !== undefined) send(lane)
        }
      }
    }
    isOver = true
    if (running === 0) drained.resolve()
  }

  async function finish(): Promise<LoadOutcome> {
    await over
    await Promise.race([drained.promise, delay(PATIENCE_MS, undefined, { ref: false })])
    outcome.unfinished = running
    return outcome
  }
  const over = offer()
  return { over, outcome: finish() }
}
