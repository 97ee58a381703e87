import type { ErrorDetails } from './plant-types.ts'
import { amendError, RequestError } from './request-error.ts'
import { retryAfterMsOf, retryDelayMs } from './retry-delay.ts'
import { limitTime, orAborted, pause, type TimeLimit } from './time-limit.ts'

export interface CallOptions {
  /** Aborts the call, which then throws the reason of the signal. */
  signal?: AbortSignal | undefined
  /** The timeout of this call, in milliseconds. `Infinity` for none. */
  timeoutMs?: number | undefined
}

export interface ServiceRequest {
  /** Default: GET. */
  method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Relative to the base URL, with the query. */
  path: string
  headers?: Record<string, string>
  body?: string | Uint8Array<ArrayBuffer> | Blob | ReadableStream<Uint8Array>
  /** The statuses of success. Default: only 200. */
  statuses?: readonly number[]
  /**
   * When it is retried after a transient failure. `always`, the default, is for idempotent requests. `nothing-stored`:
   * only when the service says that it stored nothing.
   */
  retry?: 'always' | 'nothing-stored' | 'never'
}

export interface ServiceResponse<Body> {
  status: number
  headers: Headers
  body: Body
}

export interface Sender {
  /**
   * Sends a request and reads the whole response. All tries share one timeout. When `read` throws, the request fails,
   * and a write may or may not have been applied.
   */
  send<T>(
    request: ServiceRequest,
    read: (response: ServiceResponse<string>) => T,
    options?: CallOptions,
  ): Promise<T>
  /** Sends a request and fulfils when the header of the response is there. The caller ends `limit`. */
  open(request: ServiceRequest, limit: TimeLimit): Promise<ServiceResponse<Response>>
  limitTime(options: CallOptions): TimeLimit
}

export interface SenderOptions {
  baseUrl: string
  token: string | (() => string | Promise<string>) | undefined
  timeoutMs: number
  triesMax: number
  fetch: typeof globalThis.fetch
}

/** Too many requests, unavailable, and a gateway's errors. */
const TRANSIENT_STATUSES = [429, 502, 503, 504]
/** Overloaded, shutting down, disk full: sent before anything was stored, unless the details say otherwise. */
const CODES_OF_NOTHING_STORED = [50301, 50303, 50701]
/** A request with the same idempotency key is still running: an earlier try. */
const CODE_STILL_RUNNING = 40902

const READ = 'GET'

export function createSender(options: SenderOptions): Sender {
  async function attempt<Body>(
    request: ServiceRequest,
    authorized: Record<string, string>,
    limit: TimeLimit,
    read: (response: ServiceResponse<Response>) => Body | Promise<Body>,
  ): Promise<Body> {
    const headers = { accept: 'application/json', ...request.headers, ...authorized }
    const { method = READ, body, statuses = [200] } = request
    const init: RequestInit & { duplex: 'half' } = {
      method,
      headers: new Headers(headers),
      body: body ?? null,
      // Required for a stream, and ignored for everything else.
      duplex: 'half',
      // A redirected POST would become a GET, whose success is not that of the POST.
      redirect: 'manual',
      signal: limit.signal,
    }
    try {
      const response = await options.fetch(options.baseUrl + request.path, init)
      if (!statuses.includes(response.status)) throw rejection(response, await response.text())
      return await read({ status: response.status, headers: response.headers, body: response })
    } catch (cause) {
      if (limit.signal.aborted) throw limit.signal.reason
      if (cause instanceof RequestError) throw cause
      throw connectionError(options.baseUrl, cause)
    }
  }

  async function sendWithRetries<Body>(
    request: ServiceRequest,
    limit: TimeLimit,
    read: (response: ServiceResponse<Response>) => Body | Promise<Body>,
  ): Promise<Body> {
    let isOutcomeUnknown = false
    try {
      for (let tries = 1; ; tries++) {
        const authorized = await authorization(options.token, limit.signal)
        try {
          return await attempt(request, authorized, limit, read)
        } catch (error) {
          if (!(error instanceof RequestError)) throw error
          const { method = READ, retry = 'always' } = request
          isOutcomeUnknown ||= method !== READ && mayBeApplied(error)
          const isRetried = retry === 'always' || (retry === 'nothing-stored' && !isOutcomeUnknown)
          const delayMs = retryDelayMs(tries, error.retryAfterMs)
          if (!isRetried || !isTransient(error) || tries >= options.triesMax || delayMs >= limit.leftMs())
            throw error
          await pause(delayMs, limit.signal)
        }
      }
    } catch (error) {
      // Also if the timeout expires between two tries.
      throw amendError(error, { isOutcomeUnknown })
    }
  }

  const sender: Sender = {
    async send(request, read, callOptions = {}) {
      const limit = sender.limitTime(callOptions)
      try {
        return await sendWithRetries(request, limit, async (response) =>
          read({ ...response, body: await response.body.text() }),
        )
      } finally {
        limit.end()
      }
    },
    open: (request, limit) => sendWithRetries(request, limit, (response) => response),
    limitTime: ({ timeoutMs = options.timeoutMs, signal }) => limitTime(timeoutMs, signal),
  }
  return sender
}

/** Throws the reason of the signal when it is aborted before there is a token. */
async function authorization(
  token: SenderOptions['token'],
  signal: AbortSignal,
): Promise<Record<string, string>> {
  if (token === undefined) return {}
  const text = typeof token === 'function' ? await orAborted(token(), signal) : token
  // Headers would throw with the token in the message, and would accept undefined.
  if (typeof text !== 'string' || !/^[\x21-\x7e]+$/.test(text))
    throw new TypeError('token must be visible ASCII')
  return { authorization: `Bearer ${text}` }
}

/** Whether the same request may succeed if retried. */
function isTransient({ kind, code, status = 0 }: RequestError): boolean {
  return kind === 'connection' || code === CODE_STILL_RUNNING || TRANSIENT_STATUSES.includes(status)
}

/** Whether the service may have applied a write despite its unsuccessful response. */
function mayBeApplied({ kind, code = 0, details, status = 0 }: RequestError): boolean {
  if (kind !== 'service') return status < 300 || status >= 500
  if (details.outcome !== undefined) return details.outcome !== 'none'
  return status >= 500 && !CODES_OF_NOTHING_STORED.includes(code)
}

function connectionError(baseUrl: string, cause: unknown): RequestError {
  // The cause of Node's "fetch failed" says what happened.
  const { message = String(cause), cause: inner } = cause as {
    message?: string
    cause?: { message?: string; reason?: string }
  }
  // The rest of OpenSSL's messages is for developers.
  const reason = inner?.reason || inner?.message || message
  return new RequestError(`The connection to ${baseUrl} failed: ${reason}`, {
    kind: 'connection',
    cause,
  })
}

/** The error of an unsuccessful response. */
function rejection(response: Response, text: string): RequestError {
  const { status, headers } = response
  const error = errorIn(text)
  if (error !== undefined) {
    const { message, ...members } = error
    return new RequestError(message, { ...responseMembers(response), ...members, kind: 'service' })
  }
  const isRedirect = response.type === 'opaqueredirect' || (status >= 300 && status < 400)
  const target = headers.has('location') ? ` to ${headers.get('location')}` : ''
  return foreignResponse(
    response,
    isRedirect ? `a redirect${target}. Check the base URL` : `${status} ${response.statusText}`.trim(),
  )
}

/** The error of a response that is incomplete or not from the service. */
export function foreignResponse(
  response: Pick<ServiceResponse<unknown>, 'status' | 'headers'>,
  reason: string,
  cause?: unknown,
): RequestError {
  const message = `The response is not from the service: ${reason}`
  return new RequestError(message, { ...responseMembers(response), kind: 'response', cause })
}

/** The members of an error that come from its response. */
function responseMembers({ status, headers }: { status: number; headers: Headers }) {
  return {
    status,
    requestId: headers.get('x-request-id') ?? undefined,
    retryAfterMs: retryAfterMsOf(headers),
  }
}

function errorIn(text: string): { code: number; message: string; details: ErrorDetails } | undefined {
  try {
    const { error, message, details } = JSON.parse(text) as Record<string, unknown>
    if (typeof error === 'number' && typeof message === 'string') {
      return { code: error, message, details: Object(details) === details ? (details as ErrorDetails) : {} }
    }
  } catch {
    // Most likely the page of a proxy.
  }
  return undefined
}
