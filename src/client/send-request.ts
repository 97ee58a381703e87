import { RequestError, withDetails } from './request-error.ts'
import { retryAfterMsOf, retryDelayMs } from './retry-delay.ts'
import { limitTime, orAborted, pause, type TimeLimit } from './time-limit.ts'

export interface CallOptions {
  /** Ends the call; it then throws the signal's reason. */
  signal?: AbortSignal | undefined
  /** Another time limit for this call, in milliseconds; `Infinity` for none. */
  timeoutMs?: number | undefined
}

export interface ServiceRequest {
  /** GET unless given. */
  method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Below the base URL, query included. */
  path: string
  headers?: Record<string, string>
  body?: string | Blob | ReadableStream<Uint8Array>
  /** The statuses of success; 200 alone unless given. */
  statuses?: readonly number[]
  /**
   * Whether it is sent again when it failed for a while. `always`, unless given: to do it twice does no more than to do
   * it once. `refused`: only where the service says that it did nothing.
   */
  repeat?: 'always' | 'refused' | 'never'
}

export interface Answer<Body> {
  status: number
  headers: Headers
  body: Body
}

export interface Sender {
  /**
   * Sends a request and reads the whole answer, within one time limit, whatever number of tries it takes. What `read`
   * throws is an error of the request: of a write nobody knows then whether it was done.
   */
  send<T>(request: ServiceRequest, read: (answer: Answer<string>) => T, options?: CallOptions): Promise<T>
  /** Sends a request and gives the answer as soon as its header is there. `limit` is the caller's to keep and end. */
  open(request: ServiceRequest, limit: TimeLimit): Promise<Answer<Response>>
  limitTime(options: CallOptions): TimeLimit
}

export interface SenderOptions {
  baseUrl: string
  token: string | (() => string | Promise<string>) | undefined
  timeoutMs: number
  triesMax: number
  fetch: typeof globalThis.fetch
}

/**
 * Too many requests, unavailable, and with what a gateway says that it lost, or never had, its connection to the
 * service.
 */
const PASSING_STATUSES = [429, 502, 503, 504]
/** Overloaded, shutting down, storage full: what the service answers so, it has not done. */
const CODES_OF_NOTHING_DONE = [50301, 50303, 50701]
/** A request with the same idempotency key still runs: an earlier try, which the service has not given up. */
const CODE_STILL_RUNNING = 40902

const READ = 'GET'

export function createSender(parts: SenderOptions): Sender {
  async function attempt<Body>(
    request: ServiceRequest,
    authorized: Record<string, string>,
    limit: TimeLimit,
    read: (answer: Answer<Response>) => Body | Promise<Body>,
  ): Promise<Body> {
    const headers = { accept: 'application/json', ...request.headers, ...authorized }
    const { method = READ, body, statuses = [200] } = request
    const init: RequestInit & { duplex: 'half' } = {
      method,
      headers: new Headers(headers),
      body: body ?? null,
      // What a stream must say, and nothing else minds.
      duplex: 'half',
      // A redirected POST would be sent on as a GET, whose success is none.
      redirect: 'manual',
      signal: limit.signal,
    }
    try {
      const response = await parts.fetch(parts.baseUrl + request.path, init)
      if (!statuses.includes(response.status)) throw refusal(response, await response.text())
      return await read({ status: response.status, headers: response.headers, body: response })
    } catch (cause) {
      if (limit.signal.aborted) throw limit.signal.reason
      if (cause instanceof RequestError) throw cause
      throw connectionError(parts.baseUrl, cause)
    }
  }

  async function tryUntilAnswered<Body>(
    request: ServiceRequest,
    limit: TimeLimit,
    read: (answer: Answer<Response>) => Body | Promise<Body>,
  ): Promise<Body> {
    let isOutcomeUnknown = false
    try {
      for (let tries = 1; ; tries++) {
        const authorized = await authorization(parts.token, limit.signal)
        try {
          return await attempt(request, authorized, limit, read)
        } catch (error) {
          if (!(error instanceof RequestError)) throw error
          const { method = READ, repeat = 'always' } = request
          isOutcomeUnknown ||= method !== READ && mayBeDone(error)
          const isRepeated = repeat === 'always' || (repeat === 'refused' && !isOutcomeUnknown)
          const delayMs = retryDelayMs(tries, error.retryAfterMs)
          if (!isRepeated || !mayPass(error) || tries >= parts.triesMax || delayMs >= limit.leftMs())
            throw error
          await pause(delayMs, limit.signal)
        }
      }
    } catch (error) {
      // Also where the time is over before another try is sent.
      throw withDetails(error, { isOutcomeUnknown })
    }
  }

  const sender: Sender = {
    async send(request, read, options = {}) {
      const limit = sender.limitTime(options)
      try {
        return await tryUntilAnswered(request, limit, async (answer) =>
          read({ ...answer, body: await answer.body.text() }),
        )
      } finally {
        limit.end()
      }
    },
    open: (request, limit) => tryUntilAnswered(request, limit, (answer) => answer),
    limitTime: ({ timeoutMs = parts.timeoutMs, signal }) => limitTime(timeoutMs, signal),
  }
  return sender
}

/** Throws the signal's reason where it is aborted before there is a token. */
async function authorization(
  token: SenderOptions['token'],
  signal: AbortSignal,
): Promise<Record<string, string>> {
  if (token === undefined) return {}
  const text = typeof token === 'function' ? await orAborted(token(), signal) : token
  // Headers would complain as well, and show the token; or take an undefined for a word.
  if (typeof text !== 'string' || !/^[\x21-\x7e]+$/.test(text))
    throw new TypeError('token must be visible ASCII characters')
  return { authorization: `Bearer ${text}` }
}

/** Whether the same request may succeed a little later. */
function mayPass({ kind, code, status = 0 }: RequestError): boolean {
  return kind === 'connection' || code === CODE_STILL_RUNNING || PASSING_STATUSES.includes(status)
}

/** Whether the service may have done what was asked, though it did not say so. */
function mayBeDone({ kind, code = 0, status = 0 }: RequestError): boolean {
  if (kind === 'service') return status >= 500 && !CODES_OF_NOTHING_DONE.includes(code)
  return status < 300 || status >= 500
}

function connectionError(baseUrl: string, cause: unknown): RequestError {
  // Node tells what happened in the cause of its "fetch failed".
  const { message = String(cause), cause: inner } = cause as {
    message?: string
    cause?: { message?: string; reason?: string }
  }
  // Of what OpenSSL says, the reason alone is for people.
  const reason = inner?.reason || inner?.message || message
  return new RequestError(`No connection to ${baseUrl}, or it was lost: ${reason}`, {
    kind: 'connection',
    cause,
  })
}

/** The error of an answer that is no success. */
function refusal(response: Response, text: string): RequestError {
  const { status, headers } = response
  const error = errorIn(text)
  if (error === undefined) {
    const isRedirect = response.type === 'opaqueredirect' || (status >= 300 && status < 400)
    const told = isRedirect
      ? `a redirect${headers.has('location') ? ` to ${headers.get('location')}` : ''}; the base URL must be that of the service`
      : `${status} ${response.statusText}`.trim()
    return sendError(response, `The answer is not one of the service: ${told}`)
  }
  const { code, message } = error
  return new RequestError(message, { ...detailsOf(response), code, kind: 'service' })
}

/** An answer that the service did not give, or not whole. */
export function sendError(
  response: { status: number; headers: Headers },
  message: string,
  cause?: unknown,
): RequestError {
  return new RequestError(message, { ...detailsOf(response), kind: 'answer', cause })
}

/** What an error tells of the answer that it is about. */
export function detailsOf({ status, headers }: { status: number; headers: Headers }) {
  return {
    status,
    requestId: headers.get('x-request-id') ?? undefined,
    retryAfterMs: retryAfterMsOf(headers),
  }
}

function errorIn(text: string): { code: number; message: string } | undefined {
  try {
    const { error, message } = JSON.parse(text) as { error?: unknown; message?: unknown }
    if (typeof error === 'number' && typeof message === 'string') return { code: error, message }
  } catch {
    // A page, most likely.
  }
  return undefined
}
