import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'

/**
 * Logs a line for each request that failed or was slow; at the level debug for every request. Never a token, a query
 * or a body: the path alone, and the code of the error.
 */
export function logRequests(app: FastifyInstance, log: Logger, slowRequestMs: number): void {
  app.addHook('onResponse', (request, reply, done) => {
    const { failure } = request
    const status = reply.raw.statusCode
    const isSlow = reply.elapsedTime >= slowRequestMs
    if (failure !== null || isSlow || log.isLevelEnabled('debug')) {
      const level = status >= 500 ? 'error' : isSlow ? 'warn' : failure !== null ? 'info' : 'debug'
      log[level](
        {
          requestId: request.id,
          method: request.method,
          path: request.url.split('?', 1)[0]?.slice(0, 200),
          status,
          durationMs: Math.round(reply.elapsedTime * 10) / 10,
          ...(failure !== null && { error: failure.code }),
          ...(failure?.cause !== undefined && { cause: describeCause(failure.cause) }),
        },
        status >= 500
          ? 'request failed'
          : isSlow
            ? 'slow request'
            : failure !== null
              ? 'request refused'
              : 'request',
      )
    }
    done()
  })
}

function describeCause(cause: unknown): string {
  return cause instanceof Error
    ? (cause.stack ?? cause.message)
    : String((cause as { message?: unknown } | null)?.message ?? cause)
}
