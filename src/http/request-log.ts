import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Logger } from 'pino'
import { type ErrorCode, meaningOf, type OverloadReason } from '../errors.ts'
import { createLogThrottle } from '../log-throttle.ts'
import type { ClientAddress } from './connections/client-address.ts'
import { requestPath } from './request/route-template.ts'
import type { RecordUnreadable } from './server/http-server.ts'

/** Enough to tell which path it was. */
const PATH_CHARACTERS_MAX = 200

/**
 * Enough to see what is going on; whoever sends requests without a good token by the thousand does not fill the disk.
 */
const LINES_A_SECOND_MAX = 10

/**
 * What a request is refused with that needs no good token, or is more than it may; and what every request is refused
 * with while the storage is away or full: the log may be on the same disk.
 */
const FLOODING: ReadonlySet<ErrorCode> = new Set<ErrorCode>([40101, 40102, 42901, 50302, 50701])

const OVERLOADED: ErrorCode = 50301
/** Of which one wants to know where it comes from. A token that is refused has a line of its own in the audit. */
const TOO_MANY_REQUESTS: ErrorCode = 42901

export interface RequestLogOptions {
  log: Logger
  slowRequestMs: number
  clientAddress: ClientAddress
  /** What counts them, too, where anything does. */
  metrics?: { recordUnreadable(code: ErrorCode): void } | undefined
}

/** Notes that a request is over. */
export type RecordRequest = (request: FastifyRequest, reply: FastifyReply) => void

export interface RequestLog {
  /** Notes it in the log, where that is worth a line. */
  recordRequest: RecordRequest
  /** Notes an answer to what was no whole request: anybody can send that. */
  recordUnreadable: RecordUnreadable
  /** Tells what is counted and not yet told. */
  stop(): void
}

/**
 * Logs a line for each request that failed or was slow; at the level debug for every request. Never a token,
 * a query or a body: the path alone, the code of the error, and the address of a client that sent too much. Refusals
 * for overload are summed up instead, by what there was too much of, and those beyond ten a second that anybody can
 * cause, among them what was no whole request, by their code, unless the level is debug.
 */
export function createRequestLog({
  log,
  slowRequestMs,
  clientAddress,
  metrics,
}: RequestLogOptions): RequestLog {
  const isDebug = log.isLevelEnabled('debug')
  const tellOverload = (refused: ReadonlyMap<OverloadReason | 'unknown', number>) =>
    log.error({ refused: Object.fromEntries(refused), error: OVERLOADED }, 'overloaded')
  const overloads = createLogThrottle(1, tellOverload)
  const refusals = createLogThrottle<ErrorCode>(LINES_A_SECOND_MAX, (leftOut) => {
    // Of the same level as the lines that are left out.
    const isFault = [...leftOut.keys()].some((code) => meaningOf(code).status >= 500)
    log[isFault ? 'error' : 'info']({ leftOut: Object.fromEntries(leftOut) }, 'more requests refused')
  })

  function recordRequest(request: FastifyRequest, reply: FastifyReply): void {
    const { failure } = request
    if (failure?.code === OVERLOADED && !isDebug) {
      const reason = failure.reason ?? 'unknown'
      if (overloads.hasLine(reason)) tellOverload(new Map([[reason, 1]]))
      return
    }
    const status = reply.raw.statusCode
    // A failure may come behind a status of success, where the answer was being sent.
    const isFault = status >= 500 || (failure !== null && meaningOf(failure.code).status >= 500)
    const isSlow = reply.elapsedTime >= slowRequestMs && !request.mayTakeLong
    if (failure === null && !isSlow && !isDebug) return
    if (failure !== null && !isDebug && FLOODING.has(failure.code) && !refusals.hasLine(failure.code)) return
    const level = isFault ? 'error' : isSlow ? 'warn' : failure !== null ? 'info' : 'debug'
    log[level](
      {
        requestId: request.id,
        method: request.method,
        path: loggedPath(request.url),
        // Without an answer it is that of a new one.
        ...(reply.raw.headersSent && { status }),
        durationMs: Math.round(reply.elapsedTime * 10) / 10,
        ...(!reply.raw.writableFinished && { cut: true }),
        ...(failure !== null && { error: failure.code }),
        ...(failure?.code === TOO_MANY_REQUESTS && { clientAddress: clientAddress(request.raw) }),
        ...(failure?.cause !== undefined && { cause: describeCause(failure.cause) }),
      },
      isFault ? 'request failed' : isSlow ? 'slow request' : failure !== null ? 'request refused' : 'request',
    )
  }

  return {
    recordRequest,
    recordUnreadable({ code, requestId, address, request }) {
      metrics?.recordUnreadable(code)
      if (!isDebug && !refusals.hasLine(code)) return
      const { status } = meaningOf(code)
      const about = request && { method: request.method, path: loggedPath(request.url ?? '') }
      log.info({ requestId, ...about, status, error: code, clientAddress: address }, 'request refused')
    },
    stop() {
      overloads.stop()
      refusals.stop()
    },
  }
}

/** Records a request once, in the log, the metrics and the traces alike. */
export function recordOnce(recorders: readonly (RecordRequest | undefined)[]): RecordRequest {
  return (request, reply) => {
    if (request.isRecorded) return
    request.isRecorded = true
    for (const record of recorders) record?.(request, reply)
  }
}

/** Records every request when its response has been sent, or by `app.recordRequest` where none is. */
export function recordResponses(app: FastifyInstance, recordRequest: RecordRequest): void {
  app.decorate('recordRequest', recordRequest)
  app.addHook('onResponse', (request, reply, done) => {
    recordRequest(request, reply)
    done()
  })
}

/** Tokens of a store, JWTs, and what is too long for the id of a token where one belongs; in one pass over any path. */
const TOKENS = /plst_\w+|eyJ[\w.-]+|(?<=\/tokens\/)[^/]{16,}/g

/** Bounded, and without a token where somebody put one in the place of its id. */
function loggedPath(target: string): string {
  return requestPath(target).replace(TOKENS, '***').slice(0, PATH_CHARACTERS_MAX)
}

function describeCause(cause: unknown): string {
  return cause instanceof Error
    ? (cause.stack ?? cause.message)
    : String((cause as { message?: unknown } | null)?.message ?? cause)
}
