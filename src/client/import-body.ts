import { newPlantJson } from './exact-ids.ts'
import type { NewPlant } from './plant-types.ts'
import { setAlarm, type TimeLimit } from './time-limit.ts'

/**
 * A file in memory, on disk or from a stream. Text is sent as UTF-8, wherever its chunks end, and bytes unchanged. An
 * import throws a TypeError for text with a lone surrogate.
 */
export type FileSource =
  | string
  | Uint8Array
  | Blob
  | ReadableStream<Uint8Array>
  | Iterable<Uint8Array | string>
  | AsyncIterable<Uint8Array | string>

export type PlantSource = Iterable<NewPlant> | AsyncIterable<NewPlant>

/** Rows are gathered into chunks of this size: a packet per row would be slow. */
const CHUNK_CHARACTERS = 65_536
/** Gathered rows are sent after this time at the latest. */
const GATHER_MS = 50
/** A slow source sends a space, because the service ends an import after 30 s without a byte. */
const KEEP_ALIVE_MS = 10_000

/** The longest time that a fast source may block the event loop. */
const SLICE_MS = 10
/** A blank line is no row. Without a byte, the service responds that the body is missing. */
const NO_ROWS = '\n'

const HIGH_SURROGATE_AT_END = /[\ud800-\udbff]$/
/** With the flag `u` a pair does not match. */
const LONE_SURROGATE = /[\ud800-\udfff]/u

/** Plants as JSON lines with exact ids. Throws a TypeError at a plant whose id is not a bigint. */
export async function* ndjsonOf(plants: PlantSource): AsyncGenerator<string, void, undefined> {
  if (Symbol.asyncIterator in plants) return yield* ndjsonInTime(plants)
  let text = ''
  for (const plant of plants) {
    text += `${newPlantJson(plant)}\n`
    if (text.length < CHUNK_CHARACTERS) continue
    yield text
    text = ''
  }
  yield text || NO_ROWS
}

/** Waits for more plants, but sends gathered ones soon, and a keep-alive while there are none. */
async function* ndjsonInTime(plants: AsyncIterable<NewPlant>): AsyncGenerator<string, void, undefined> {
  const iterator = plants[Symbol.asyncIterator]()
  let next = nextPlant()
  let alarm = setAlarm(KEEP_ALIVE_MS)
  let text = ''
  function nextPlant() {
    const result = iterator.next()
    // It may fail while nothing awaits it; the next await throws.
    result.catch(() => undefined)
    return result
  }
  try {
    for (;;) {
      const result = await Promise.race([next, alarm.rung])
      if (result !== undefined && !result.done) {
        if (text === '') alarm = setAlarm(GATHER_MS, alarm)
        text += `${newPlantJson(result.value)}\n`
        next = nextPlant()
        if (text.length < CHUNK_CHARACTERS) continue
      }
      if (result?.done) return yield text || NO_ROWS
      yield text || ' '
      text = ''
      alarm = setAlarm(KEEP_ALIVE_MS, alarm)
    }
  } finally {
    alarm.clear()
    // Not awaited, as it may never settle.
    iterator.return?.().catch(() => undefined)
  }
}

/** The body of an import in one request. */
export interface ImportBody {
  body: Blob | ReadableStream<Uint8Array>
  /** The error that the source threw. */
  failure(): { error: unknown } | undefined
}

/**
 * Streams the source, except in browsers: they send streams over HTTP/2 only, or not at all. There it is first
 * gathered in a Blob, which may be on disk.
 */
export async function importBody(
  source: FileSource | AsyncIterable<string>,
  limit: TimeLimit,
): Promise<ImportBody> {
  // A browser does not report sent bytes, so there is no timeout.
  if (isBrowser() && source instanceof Blob) return gathered(source, limit)
  let failure: { error: unknown } | undefined
  let sliceStartMs = performance.now()
  const chunks = bytesOf(source)
  const { signal } = limit
  // Not awaited, as the source may never settle.
  const stop = () => void chunks.return().catch(() => undefined)
  const stream = new ReadableStream<Uint8Array>({
    start(controller) {
      // Node would go on reading the source.
      signal.addEventListener('abort', () => {
        controller.error(signal.reason)
        stop()
      })
    },
    async pull(controller) {
      limit.hold()
      // A source that never waits would block the response, timers and signals.
      if (performance.now() - sliceStartMs > SLICE_MS) {
        await new Promise((resolve) => setTimeout(resolve))
        sliceStartMs = performance.now()
      }
      try {
        const { done, value } = await chunks.next()
        if (signal.aborted) return
        if (done) controller.close()
        else controller.enqueue(value)
      } catch (error) {
        failure = { error }
        controller.error(error)
      }
      limit.restart()
    },
    cancel: stop,
  })
  if (isBrowser()) return gathered(await new Response(stream).blob(), limit)
  return { body: stream, failure: () => failure }
}

function gathered(body: Blob, limit: TimeLimit): ImportBody {
  limit.hold()
  return { body, failure: () => undefined }
}

/** Browsers do not report sent bytes, and not all can send a stream. */
export function isBrowser(): boolean {
  return (globalThis as { location?: unknown }).location !== undefined
}

/** Larger chunks are divided: the source may be a whole file in memory. */
const CHUNK_BYTES = 65_536

/** The bytes of a source in chunks. Throws a TypeError for a lone surrogate. */
export async function* bytesOf(
  source: FileSource | AsyncIterable<string>,
): AsyncGenerator<Uint8Array, void, undefined> {
  const encoder = new TextEncoder()
  for await (const chunk of chunksOf(source)) {
    const bytes = typeof chunk === 'string' ? encoder.encode(chunk) : chunk
    for (let at = 0; at < bytes.length; at += CHUNK_BYTES) yield bytes.subarray(at, at + CHUNK_BYTES)
  }
}

async function* chunksOf(
  source: FileSource | AsyncIterable<string>,
): AsyncGenerator<Uint8Array | string, void, undefined> {
  if (source instanceof Uint8Array) return yield source
  const chunks = typeof source === 'string' ? [source] : source instanceof Blob ? source.stream() : source
  // A chunk may end within a surrogate pair: its first half waits for the other.
  let half = ''
  let index = 0
  for await (const chunk of 'getReader' in chunks ? readAll(chunks) : chunks) {
    let part = chunk
    if (typeof part === 'string') {
      part = half + part
      half = HIGH_SURROGATE_AT_END.exec(part)?.[0] ?? ''
      part = checkedText(part.slice(0, part.length - half.length), index)
      index += part.length
    } else {
      checkedText(half, index)
    }
    // An empty chunk would end the body in HTTP/1.1.
    if (part.length > 0) yield part
  }
  checkedText(half, index)
}

/** The text, which begins at `index`. Throws a TypeError for a lone surrogate, which UTF-8 cannot encode. */
function checkedText(text: string, index: number): string {
  const at = text.search(LONE_SURROGATE)
  if (at < 0) return text
  throw new TypeError(`the text has a lone surrogate at index ${index + at}`)
}

/** Iterates a stream, for browsers whose streams are not iterable. */
async function* readAll(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
  const reader = stream.getReader()
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      yield value
    }
  } finally {
    reader.cancel().catch(() => undefined)
  }
}
