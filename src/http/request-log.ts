import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Logger } from 'pino'
import { type ErrorCode, meaningOf, type OverloadReason } from '../errors.ts'
import type { ClientAddress } from './client-address.ts'
import type { UnreadableNote } from './ordered-server.ts'
import { createRefusalLog } from './refusal-log.ts'
import { requestPath } from './request-path.ts'
import { createSummedLines } from './summed-lines.ts'

/** Enough to tell which path it was. */
const PATH_CHARACTERS_MAX = 200

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
export type RequestNote = (request: FastifyRequest, reply: FastifyReply) => void

export interface RequestLog {
  /** Notes it in the log, where that is worth a line. */
  noteRequest: RequestNote
  /** Notes an answer to what was no whole request: anybody can send that. */
  noteUnreadable: UnreadableNote
  /** Tells what is counted and not yet told. */
  stop(): void
}

/**
 * Logs a line for each request that failed or was slow; at the level debug for every request. Never a token,
 * a query or a body: the path alone, the code of the error, and the address of a client that sent too much. Refusals
 * for overload are summed up instead (`summed-lines.ts`), by what there was too much of, and those beyond ten a second that anybody can cause
 * (`refusal-log.ts`, among them what was no whole request), unless the level is debug.
 */
export function createRequestLog({
  log,
  slowRequestMs,
  clientAddress,
  metrics,
}: RequestLogOptions): RequestLog {
  const overloads = createSummedLines<OverloadReason | 'unknown'>((refused) =>
    log.error({ refused, error: OVERLOADED }, 'overloaded'),
  )
  const refusals = createRefusalLog(log)

  function noteRequest(request: FastifyRequest, reply: FastifyReply): void {
    const { failure } = request
    if (failure?.code === OVERLOADED && !log.isLevelEnabled('debug')) {
      overloads.count(failure.reason ?? 'unknown')
      return
    }
    const status = reply.raw.statusCode
    // A failure may come behind a status of success, where the answer was being sent.
    const isFault = status >= 500 || (failure !== null && meaningOf(failure.code).status >= 500)
    const isSlow = reply.elapsedTime >= slowRequestMs && !request.mayTakeLong
    if (failure === null && !isSlow && !log.isLevelEnabled('debug')) return
    if (failure !== null && !log.isLevelEnabled('debug') && !refusals.hasLine(failure.code)) return
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
    noteRequest,
    noteUnreadable({ code, requestId, address, request }) {
      metrics?.recordUnreadable(code)
      if (!log.isLevelEnabled('debug') && !refusals.hasLine(code, true)) return
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

/** Bounded, and without a token where somebody put one in the place of its id. */
function loggedPath(target: string): string {
  return requestPath(target)
    .replace(/plst_\w+/g, 'plst_***')
    .slice(0, PATH_CHARACTERS_MAX)
}

function describeCause(cause: unknown): string {
  return cause instanceof Error
    ? (cause.stack ?? cause.message)
    : String((cause as { message?: unknown } | null)?.message ?? cause)
}
