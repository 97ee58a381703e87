import type { FastifyRequest } from 'fastify'

/** What a request goes through, one after the other; not every one goes through each. */
type StageName = 'authenticate' | 'parse' | 'read' | 'commit'

interface Stage {
  name: StageName
  /** By `performance.now()`. */
  startMs: number
  endMs: number
}

/** When a request went through what; kept for those only of which somebody wants to know. */
export interface RequestStages {
  /** A stage begins, and the one before it is over. */
  enter(name: StageName): void
  /** The last one is over. */
  leave(): void
  readonly passed: readonly Stage[]
  /** Whether the answer tells of them (`Server-Timing`). */
  isReported: boolean
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Null where nobody wants to know. */
    stages: RequestStages | null
  }
}

/**
 * Begins to note the stages of a request whose client asks for them with `Prefer: server-timing` (RFC 7240): how long
 * it took, and where.
 */
export function recordRequestedStages(request: FastifyRequest): void {
  const { prefer } = request.headers
  if (prefer === undefined || !/(?:^|,)\s*server-timing\s*(?:[,;]|$)/i.test(String(prefer))) return
  request.stages ??= createRequestStages()
  request.stages.isReported = true
}

/** The value of a `Server-Timing` field (W3C): milliseconds, each stage by its name and `total` from the first one on. */
export function serverTimingOf({ passed }: RequestStages): string {
  const first = passed[0]
  const last = passed.at(-1)
  const totalMs = first === undefined || last === undefined ? 0 : last.endMs - first.startMs
  const parts = passed.map(({ name, startMs, endMs }) => `${name};dur=${(endMs - startMs).toFixed(3)}`)
  return [...parts, `total;dur=${totalMs.toFixed(3)}`].join(', ')
}

export function createRequestStages(): RequestStages {
  const passed: Stage[] = []
  let current: Stage | undefined

  function leave(): void {
    if (current !== undefined) current.endMs = performance.now()
    current = undefined
  }

  return {
    passed,
    isReported: false,
    leave,
    enter(name) {
      leave()
      const startMs = performance.now()
      current = { name, startMs, endMs: startMs }
      passed.push(current)
    },
  }
}
