import { type ImportSlice, ImportSlicer, type SliceOptions } from './import-slicer.ts'
import { setAlarm } from './time-limit.ts'

/** A slow source: complete rows wait for more rows at most this long. */
const GATHER_MS = 250

/** Splits a file into slices of whole rows, at least one. Takes memory for one slice and one row. */
export async function* sliceRows(
  chunks: AsyncIterator<Uint8Array, unknown>,
  options: SliceOptions,
): AsyncGenerator<ImportSlice, void, undefined> {
  const slicer = new ImportSlicer(options)
  let next = read()
  let gatheringSinceMs: number | undefined
  function read() {
    const result = chunks.next()
    // It may fail while nothing awaits it; the next await throws.
    result.catch(() => undefined)
    return result
  }
  try {
    for (;;) {
      if (!slicer.hasRows) gatheringSinceMs = undefined
      else gatheringSinceMs ??= performance.now()
      const waitMs =
        gatheringSinceMs === undefined ? Infinity : GATHER_MS + gatheringSinceMs - performance.now()
      const result = await within(next, waitMs)
      if (result === undefined) {
        yield slicer.flush()
        continue
      }
      if (result.done) break
      yield* slicer.take(result.value)
      if (slicer.isEndless) return
      next = read()
    }
    yield* slicer.end()
  } finally {
    // Not awaited, as it may never settle.
    chunks.return?.().catch(() => undefined)
  }
}

/** Fulfils like `promise`, or with undefined after `waitMs`. */
async function within<T>(promise: Promise<T>, waitMs: number): Promise<T | undefined> {
  if (waitMs === Infinity) return promise
  const alarm = setAlarm(Math.max(0, waitMs))
  return Promise.race([promise, alarm.rung]).finally(alarm.clear)
}
