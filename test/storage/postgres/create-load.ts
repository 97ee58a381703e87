import { TOKEN } from '../../support/http/start-app.ts'

/** The pause of a client before it retries a rejected create. Retry-After is a second; it would measure the same. */
const PAUSE_MS = 20
/** Creates without a key among the others: one in so many. */
const PLAIN_EVERY = 4

/** What the responses to the clients said. Ids of plants, with the version that an acknowledgement named. */
export interface CreateReport {
  acknowledged: Map<bigint, number>
  /** Plain creates of which the response said that nothing was stored; they were not sent again. */
  notStored: Set<bigint>
  /** Plain creates of which the response said that it is not known; they were not sent again. */
  unknown: Set<bigint>
  /** Keyed creates of unknown outcome, which were sent again until they were acknowledged. */
  resolved: Set<bigint>
  /** Responses with 503 and code 50302. */
  rejections: number
  /** Whatever else went wrong. */
  others: string[]
  /** For each replica its longest time without a 200, in milliseconds. */
  longestGapsMs: number[]
}

export interface CreateLoad {
  readonly report: CreateReport
  /** When each replica acknowledged a create last (performance.now). */
  readonly lastAcknowledgedMs: readonly number[]
  /** Lets every client finish the create that it is at. */
  stop(): Promise<CreateReport>
}

/** What each plant of the load is. */
export function plantOf(id: bigint): { name: string; tag: string } {
  return { name: `plant ${id}`, tag: 'load' }
}

/**
 * Creates plants over HTTP from so many clients, each asking the replicas by turns. Most creates have an
 * idempotency key, and are sent again, to the next replica, until they are acknowledged.
 */
export function startCreateLoad(replicas: readonly string[], clients: number): CreateLoad {
  const lastAcknowledgedMs = replicas.map(() => performance.now())
  const report: CreateReport = {
    acknowledged: new Map(),
    notStored: new Set(),
    unknown: new Set(),
    resolved: new Set(),
    rejections: 0,
    others: [],
    longestGapsMs: replicas.map(() => 0),
  }
  let isOver = false
  let nextId = 1n
  let turn = 0

  function acknowledge(id: bigint, replica: number, version: number): void {
    const now = performance.now()
    const gapMs = now - (lastAcknowledgedMs[replica] ?? now)
    report.longestGapsMs[replica] = Math.max(report.longestGapsMs[replica] ?? 0, gapMs)
    lastAcknowledgedMs[replica] = now
    report.acknowledged.set(id, version)
  }

  /** Sends a create once; true if its client is done with it. */
  async function send(id: bigint, isPlain: boolean): Promise<boolean> {
    const replica = turn++ % replicas.length
    const response = await fetch(`${replicas[replica]}/plants`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${TOKEN}`,
        'content-type': 'application/json',
        ...(!isPlain && { 'idempotency-key': `plant-${id}` }),
      },
      body: `{"id":${id},"name":${JSON.stringify(plantOf(id).name)},"tag":${JSON.stringify(plantOf(id).tag)}}`,
    })
    const text = await response.text()
    if (response.status === 200) {
      acknowledge(id, replica, Number(response.headers.get('etag')?.replaceAll('"', '')))
      return true
    }
    const { error, details } = JSON.parse(text) as { error: number; details?: { outcome?: string } }
    if (error === 40902 && !isPlain) return false
    if (response.status !== 503 || error !== 50302 || response.headers.get('retry-after') === null) {
      report.others.push(`${id}: ${response.status} ${text}`)
      return true
    }
    report.rejections++
    const isUnknown = details?.outcome === 'unknown'
    if (!isUnknown && details?.outcome !== 'none') report.others.push(`${id}: ${text}`)
    if (!isPlain && isUnknown) report.resolved.add(id)
    if (isPlain) (isUnknown ? report.unknown : report.notStored).add(id)
    return isPlain
  }

  async function work(): Promise<void> {
    while (!isOver) {
      const id = nextId++
      const isPlain = id % BigInt(PLAIN_EVERY) === 0n
      try {
        while (!(await send(id, isPlain))) await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
      } catch (error) {
        report.others.push(`${id}: ${error} ${(error as Error).cause ?? ''}`)
      }
      if (report.notStored.has(id) || report.unknown.has(id)) {
        await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
      }
    }
  }

  const working = Array.from({ length: clients }, work)
  return {
    report,
    lastAcknowledgedMs,
    async stop() {
      isOver = true
      await Promise.all(working)
      return report
    },
  }
}
