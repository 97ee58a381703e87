import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Logger } from 'pino'
import { type ErrorCode, meaningOf, type OverloadReason } from '../errors.ts'
import { createLogThrottle } from '../log-throttle.ts'
import type { ClientAddress } from './connections/client-address.ts'
import { requestPath } from './request/route-template.ts'
import type { RecordUnreadable } from './server/http-server.ts'

/** Enough to identify the path. */
const PATH_CHARACTERS_MAX = 200

/** Enough to see what is going on; thousands of requests without a valid token do not fill the disk. */
const LINES_A_SECOND_MAX = 10

/**
 * Codes of rejections that can come by the thousand: those that need no valid token, the rate limit, and those of every
 * request while the storage is unavailable or full. The log may be on the same disk.
 */
const FLOODING: ReadonlySet<ErrorCode> = new Set<ErrorCode>([40101, 40102, 42901, 50302, 50701])

const OVERLOADED: ErrorCode = 50301
/** Logged with the address of the client. A rejected token has its address in its audit line. */
const TOO_MANY_REQUESTS: ErrorCode = 42901

export interface RequestLogOptions {
  log: Logger
  slowRequestMs: number
  clientAddress: ClientAddress
  /** Absent if metrics are off. */
  metrics?: { recordUnreadable(code: ErrorCode): void } | undefined
}

/** Records a request that has ended. */
export type RecordRequest = (request: FastifyRequest, reply: FastifyReply) => void

export interface RequestLog {
  /** Logs requests that failed or were slow. */
  recordRequest: RecordRequest
  /** Logs and counts the response to bytes that are not a complete request. */
  recordUnreadable: RecordUnreadable
  /** Logs the counts of suppressed lines. */
  stop(): void
}

/**
 * Logs a line for each request that was rejected, failed or was slow; at the level debug for every request. A line has
 * the path, the error code, and the address of a client above its rate limit. It never has a token, a query or a body.
 *
 * Above the level debug two kinds of lines are throttled. Rejections for overload are counted by their reason.
 * Rejections that anybody can cause, incomplete requests among them, are counted by code beyond ten a second.
 */
export function createRequestLog({
  log,
  slowRequestMs,
  clientAddress,
  metrics,
}: RequestLogOptions): RequestLog {
  const isDebug = log.isLevelEnabled('debug')
  const logOverload = (rejected: ReadonlyMap<OverloadReason | 'unknown', number>) =>
    log.error({ rejected: Object.fromEntries(rejected), error: OVERLOADED }, 'overloaded')
  const overloads = createLogThrottle(1, logOverload)
  const rejections = createLogThrottle<ErrorCode>(LINES_A_SECOND_MAX, (suppressed) => {
    // The level of the suppressed lines.
    const isFault = [...suppressed.keys()].some((code) => meaningOf(code).status >= 500)
    log[isFault ? 'error' : 'info']({ suppressed: Object.fromEntries(suppressed) }, 'more requests rejected')
  })

  function recordRequest(request: FastifyRequest, reply: FastifyReply): void {
    const { failure } = request
    if (failure?.code === OVERLOADED && !isDebug) {
      const reason = failure.reason ?? 'unknown'
      if (overloads.hasLine(reason)) logOverload(new Map([[reason, 1]]))
      return
    }
    const status = reply.raw.statusCode
    // A request can fail after its response has begun with a status of success.
    const isFault = status >= 500 || (failure !== null && meaningOf(failure.code).status >= 500)
    const isSlow = reply.elapsedTime >= slowRequestMs && !request.mayTakeLong
    if (failure === null && !isSlow && !isDebug) return
    if (failure !== null && !isDebug && FLOODING.has(failure.code) && !rejections.hasLine(failure.code))
      return
    const level = isFault ? 'error' : isSlow ? 'warn' : failure !== null ? 'info' : 'debug'
    log[level](
      {
        requestId: request.id,
        method: request.method,
        path: loggedPath(request.url),
        // Before a response is sent, Node has 200 here.
        ...(reply.raw.headersSent && { status }),
        durationMs: Math.round(reply.elapsedTime * 10) / 10,
        ...(!reply.raw.writableFinished && { dropped: true }),
        ...(failure !== null && { error: failure.code }),
        ...(failure?.code === TOO_MANY_REQUESTS && { clientAddress: clientAddress(request.raw) }),
        ...(failure?.cause !== undefined && { cause: describeCause(failure.cause) }),
      },
      isFault
        ? 'request failed'
        : isSlow
          ? 'slow request'
          : failure !== null
            ? 'request rejected'
            : 'request',
    )
  }

  return {
    recordRequest,
    recordUnreadable({ code, requestId, address, request }) {
      metrics?.recordUnreadable(code)
      if (!isDebug && !rejections.hasLine(code)) return
      const { status } = meaningOf(code)
      const about = request && { method: request.method, path: loggedPath(request.url ?? '') }
      log.info({ requestId, ...about, status, error: code, clientAddress: address }, 'request rejected')
    },
    stop() {
      overloads.stop()
      rejections.stop()
    },
  }
}

/** Records a request once in each of the log, the metrics and the traces. */
export function recordOnce(recorders: readonly (RecordRequest | undefined)[]): RecordRequest {
  return (request, reply) => {
    if (request.isRecorded) return
    request.isRecorded = true
    for (const record of recorders) record?.(request, reply)
  }
}

/** Records every request when its response has been sent. `app.recordRequest` records those without a response. */
export function recordResponses(app: FastifyInstance, recordRequest: RecordRequest): void {
  app.decorate('recordRequest', recordRequest)
  app.addHook('onResponse', (request, reply, done) => {
    recordRequest(request, reply)
    done()
  })
}

/** Tokens of a store, JWTs, and texts too long for a token's id in its place; linear in the length of the path. */
const TOKENS = /plst_\w+|eyJ[\w.-]+|(?<=\/tokens\/)[^/]{16,}/g

/** The path, bounded, with tokens masked: a caller may put a token where its id belongs. */
function loggedPath(target: string): string {
  return requestPath(target).replace(TOKENS, '***').slice(0, PATH_CHARACTERS_MAX)
}

function describeCause(cause: unknown): string {
  return cause instanceof Error
    ? (cause.stack ?? cause.message)
    : String((cause as { message?: unknown } | null)?.message ?? cause)
}
