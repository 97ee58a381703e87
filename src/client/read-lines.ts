import { RequestError } from './request-error.ts'
import type { TimeLimit } from './time-limit.ts'

/**
 * The bytes of a response as they arrive. The clock of `limit` runs while waiting for them, and not while the consumer
 * is busy. Throws a RequestError when the connection is lost before the end.
 */
export async function* readChunks(
  response: Response,
  limit: TimeLimit,
): AsyncGenerator<Uint8Array, void, undefined> {
  // A reader, because not every browser can loop over a stream.
  const reader = response.body?.getReader()
  if (reader === undefined) return
  for (;;) {
    limit.restart()
    const { done, value } = await orConnectionLost(reader.read(), limit)
    limit.hold()
    if (done) return
    yield value
  }
}

/** The lines of a response, as many at a time as arrive together. The last one may have no line break. */
export async function* readLines(
  response: Response,
  limit: TimeLimit,
): AsyncGenerator<string[], void, undefined> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of readChunks(response, limit)) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    if (lines.length > 0) yield lines
  }
  if (rest !== '') yield [rest]
}

/** Fulfils like `read`. Throws the reason of an aborted signal, else a RequestError for the lost connection. */
export async function orConnectionLost<T>(read: Promise<T>, { signal }: TimeLimit): Promise<T> {
  try {
    return await read
  } catch (cause) {
    throw signal.aborted ? signal.reason : connectionLost(cause)
  }
}

/** The error of an incomplete response. */
export function connectionLost(cause?: unknown): RequestError {
  return new RequestError('The connection was lost before the end of the response', {
    kind: 'connection',
    cause,
  })
}
