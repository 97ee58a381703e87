import { AppError } from '../../errors.ts'
import { parseJsonText } from '../../http/request/read-body.ts'
import { yieldToEventLoop } from '../../load/yield-to-event-loop.ts'
import { createCsvRows } from '../import/csv-rows.ts'
import { decodeText } from '../import/decode-text.ts'
import type { ImportParameters } from '../import/import-parameters.ts'
import type { ImportRows } from '../import/import-rows.ts'
import { createNdjsonRows } from '../import/ndjson-rows.ts'
import { createLineSplitter } from '../import/text-lines.ts'

/** The chunks of a body. Throws 40001 for an empty one. */
export async function* notEmpty(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer, undefined> {
  let isEmpty = true
  for await (const chunk of chunks) {
    isEmpty = false
    yield chunk
  }
  if (isEmpty) throw new AppError(40001, 'The body is missing. Send NDJSON or CSV.')
}

/** Failed rows of a slice. One takes several times as long as a valid row, and may have only three bytes. */
const SLICE_FAILURES_MAX = 1_000
const SLICE_BYTES_FIRST = 4 * 1024
const SLICE_BYTES_MIN = 1024
const SLICE_BYTES_MAX = 32 * 1024

/**
 * Reads chunks in slices of some milliseconds. Other requests run between them. Only failed rows make slices smaller:
 * a chunk of valid rows is one slice.
 */
async function* readInSlices(
  chunks: AsyncIterable<Buffer>,
  read: (slice: Buffer) => ImportRows,
): AsyncGenerator<ImportRows, undefined> {
  let bytes = SLICE_BYTES_FIRST
  for await (const chunk of chunks) {
    for (let at = 0; at < chunk.length; ) {
      if (at > 0) await yieldToEventLoop()
      const slice = chunk.subarray(at, at + bytes)
      at += slice.length
      const rows = read(slice)
      const failed = rows.failures.length
      if (failed > SLICE_FAILURES_MAX) bytes = Math.max(SLICE_BYTES_MIN, bytes / 2)
      else if (failed < SLICE_FAILURES_MAX / 4) bytes = Math.min(SLICE_BYTES_MAX, bytes * 2)
      yield rows
    }
  }
}

export async function* ndjsonRowsOf(chunks: AsyncIterable<Buffer>): AsyncGenerator<ImportRows, undefined> {
  const rows = createNdjsonRows((text) => parseJsonText(text, 'line'))
  const lines = createLineSplitter()
  const advice = () => 'Send NDJSON in UTF-8 (RFC 8259 §8.1).'
  yield* readInSlices(decodeText(chunks, undefined, advice), (slice) => {
    const { text, faults } = lines.take(slice)
    return rows.read(text, faults)
  })
  const { text, faults } = lines.end()
  yield rows.read(text, faults)
}

export function csvRowsOf({ columns, idStart, encoding }: ImportParameters) {
  const rows = createCsvRows({ columns, idStart })
  return async function* rowsOf(chunks: AsyncIterable<Buffer>): AsyncGenerator<ImportRows, undefined> {
    const advice = (found: string) => `Set the parameter encoding to ${found}.`
    yield* readInSlices(decodeText(chunks, encoding, advice), rows.read)
    yield rows.end()
  }
}
