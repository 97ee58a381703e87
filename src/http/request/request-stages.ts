import type { FastifyRequest } from 'fastify'

/** The stages of a request, in order. A request may skip some. */
type StageName = 'authenticate' | 'parse' | 'read' | 'commit'

interface Stage {
  name: StageName
  /** By `performance.now()`. */
  startMs: number
  endMs: number
}

/** The times of the stages of a request. */
export interface RequestStages {
  /** Starts a stage, and ends the previous one. */
  enter(name: StageName): void
  /** Ends the last stage. */
  leave(): void
  readonly passed: readonly Stage[]
  /** Whether the response has `Server-Timing`. */
  isReported: boolean
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Null unless the request is traced or asks for `Server-Timing`. */
    stages: RequestStages | null
  }
}

/** Records the stages of a request with `Prefer: server-timing` (RFC 7240), for its response. */
export function recordRequestedStages(request: FastifyRequest): void {
  const { prefer } = request.headers
  if (prefer === undefined || !/(?:^|,)\s*server-timing\s*(?:[,;]|$)/i.test(String(prefer))) return
  request.stages ??= createRequestStages()
  request.stages.isReported = true
}

/** The value of `Server-Timing` (W3C): each stage and the `total`, in milliseconds. */
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
