import { newPlantJson } from './exact-ids.ts'
import type { NewPlant } from './plant-types.ts'
import { setAlarm, type TimeLimit } from './time-limit.ts'

/**
 * A file in memory, on disk or on its way. Text is sent as UTF-8, wherever it is cut, and bytes as they are. Text with
 * half a character in it (a lone surrogate) makes an import throw a TypeError.
 */
export type FileSource =
  | string
  | Uint8Array
  | Blob
  | ReadableStream<Uint8Array>
  | Iterable<Uint8Array | string>
  | AsyncIterable<Uint8Array | string>

export type PlantSource = Iterable<NewPlant> | AsyncIterable<NewPlant>

/** Rows are gathered until they are so many characters: a row a packet would be slow. */
const CHUNK_CHARACTERS = 65_536
/** Rows that wait for company are sent after this time. */
const GATHER_MS = 50
/** The service ends an import that sends nothing for 30 s; where the source takes its time, a space goes out. */
const SIGN_OF_LIFE_MS = 10_000

/** So long others may have to wait for their turn. */
const TURN_MS = 10
/** A blank line is no row; without a byte, the service takes the body for a forgotten one. */
const NOTHING = '\n'

/** At the end. */
const FIRST_HALF = /[\ud800-\udbff]$/
/** With the flag `u` the halves of a whole character do not match. */
const ANY_HALF = /[\ud800-\udfff]/u

/** Plants as JSON, one a line, their ids exact. Throws a TypeError at a plant whose id is no bigint. */
export async function* ndjsonOf(plants: PlantSource): AsyncGenerator<string, void, undefined> {
  if (Symbol.asyncIterator in plants) return yield* ndjsonInTime(plants)
  let text = ''
  for (const plant of plants) {
    text += `${newPlantJson(plant)}\n`
    if (text.length < CHUNK_CHARACTERS) continue
    yield text
    text = ''
  }
  yield text || NOTHING
}

/** Waits for further plants, but neither long while there are some to send, nor without a sign of life. */
async function* ndjsonInTime(plants: AsyncIterable<NewPlant>): AsyncGenerator<string, void, undefined> {
  const iterator = plants[Symbol.asyncIterator]()
  let next = asked()
  let alarm = setAlarm(SIGN_OF_LIFE_MS)
  let text = ''
  function asked() {
    const result = iterator.next()
    // It may fail while nobody waits for it. Then whoever waits for it next is told.
    result.catch(() => undefined)
    return result
  }
  try {
    for (;;) {
      const result = await Promise.race([next, alarm.rung])
      if (result !== undefined && !result.done) {
        if (text === '') alarm = setAlarm(GATHER_MS, alarm)
        text += `${newPlantJson(result.value)}\n`
        next = asked()
        if (text.length < CHUNK_CHARACTERS) continue
      }
      if (result?.done) return yield text || NOTHING
      yield text || ' '
      text = ''
      alarm = setAlarm(SIGN_OF_LIFE_MS, alarm)
    }
  } finally {
    alarm.clear()
    // Not waited for: it may be in the middle of something that never ends.
    iterator.return?.().catch(() => undefined)
  }
}

/** What is sent, and how its sending goes. */
export interface ImportBody {
  body: Blob | ReadableStream<Uint8Array>
  /** Whether it goes out while the answer is read. */
  isStreamed: boolean
  /** Whether the source is waited for: then the time is its own. */
  isWaiting(): boolean
  /** What the source threw. */
  failure(): { error: unknown } | undefined
}

/**
 * Browsers send streams over HTTP/2 only, and some not at all: there, what is to be sent is gathered first, in
 * a Blob, which may lie on disk. Elsewhere it is sent as it comes.
 */
export async function importBody(
  source: FileSource | AsyncIterable<string>,
  limit: TimeLimit,
): Promise<ImportBody> {
  // A browser does not tell how far it is with sending: nothing says that time is over.
  if (isBrowser() && source instanceof Blob) return gathered(source, limit)
  let failure: { error: unknown } | undefined
  let isWaiting = false
  let turnAtMs = performance.now()
  const chunks = chunksOf(source)
  const encoder = new TextEncoder()
  const { signal } = limit
  // Not waited for: the source may be in the middle of something that never ends.
  const stop = () => void chunks.return().catch(() => undefined)
  const stream = new ReadableStream<Uint8Array>({
    start(controller) {
      // Node goes on reading what it sends to nobody, unless it is told to stop.
      signal.addEventListener('abort', () => {
        controller.error(signal.reason)
        stop()
      })
    },
    async pull(controller) {
      limit.hold()
      isWaiting = true
      // A source that never waits would keep the answer, timers and signals from their turn.
      if (performance.now() - turnAtMs > TURN_MS) {
        await new Promise((resolve) => setTimeout(resolve))
        turnAtMs = performance.now()
      }
      try {
        const { done, value } = await chunks.next()
        if (signal.aborted) return
        if (done) controller.close()
        else controller.enqueue(typeof value === 'string' ? encoder.encode(value) : value)
      } catch (error) {
        failure = { error }
        controller.error(error)
      }
      isWaiting = false
      limit.restart()
    },
    cancel: stop,
  })
  if (isBrowser()) return gathered(await new Response(stream).blob(), limit)
  return { body: stream, isStreamed: true, isWaiting: () => isWaiting, failure: () => failure }
}

function gathered(body: Blob, limit: TimeLimit): ImportBody {
  limit.hold()
  return { body, isStreamed: false, isWaiting: () => true, failure: () => undefined }
}

function isBrowser(): boolean {
  return (globalThis as { location?: unknown }).location !== undefined
}

async function* chunksOf(
  source: FileSource | AsyncIterable<string>,
): AsyncGenerator<Uint8Array | string, void, undefined> {
  if (source instanceof Uint8Array) return yield source
  const chunks = typeof source === 'string' ? [source] : source instanceof Blob ? source.stream() : source
  // A character may be cut in two: its first half waits for the other.
  let half = ''
  let index = 0
  for await (const chunk of 'getReader' in chunks ? readAll(chunks) : chunks) {
    let part = chunk
    if (typeof part === 'string') {
      part = half + part
      half = FIRST_HALF.exec(part)?.[0] ?? ''
      part = whole(part.slice(0, part.length - half.length), index)
      index += part.length
    } else {
      whole(half, index)
    }
    // An empty chunk is the end of a body in HTTP/1.1.
    if (part.length > 0) yield part
  }
  whole(half, index)
}

/** The text, which begins at `index` of the whole. Throws where it has half a character, which UTF-8 cannot say. */
function whole(text: string, index: number): string {
  const at = text.search(ANY_HALF)
  if (at < 0) return text
  throw new TypeError(`the text has half a character (a lone surrogate) at index ${index + at}`)
}

/** A stream, looped over: not every browser can. */
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
