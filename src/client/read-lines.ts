import { RequestError } from './request-error.ts'
import type { TimeLimit } from './time-limit.ts'

/**
 * The bytes of an answer as they arrive. The clock of `limit` runs while they are waited for, and not while
 * the consumer is busy. Throws a RequestError where the connection is lost before the end.
 */
export async function* readChunks(
  response: Response,
  limit: TimeLimit,
): AsyncGenerator<Uint8Array, void, undefined> {
  // A reader, as not every browser can loop over a stream.
  const reader = response.body?.getReader()
  if (reader === undefined) return
  for (;;) {
    limit.restart()
    const { done, value } = await orBrokeOff(reader.read(), limit)
    limit.hold()
    if (done) return
    yield value
  }
}

/** The lines of an answer, as many at a time as arrive together. What comes behind the last line break is a line, too. */
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

/** What is read of an answer. Throws the signal's reason where it was aborted, or that the connection was lost. */
export async function orBrokeOff<T>(read: Promise<T>, { signal }: TimeLimit): Promise<T> {
  try {
    return await read
  } catch (cause) {
    throw signal.aborted ? signal.reason : brokeOff(cause)
  }
}

/** The error of an answer whose end did not come. */
export function brokeOff(cause?: unknown): RequestError {
  return new RequestError('The connection was lost before the end of the answer', {
    kind: 'connection',
    cause,
  })
}
