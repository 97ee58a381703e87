import { AppError } from '../../errors.ts'
import { parseJsonText } from '../../http/request/read-body.ts'
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

export async function* ndjsonRowsOf(chunks: AsyncIterable<Buffer>): AsyncGenerator<ImportRows, undefined> {
  const rows = createNdjsonRows((text) => parseJsonText(text, 'line'))
  const lines = createLineSplitter()
  const advice = () => 'Send NDJSON in UTF-8 (RFC 8259 §8.1).'
  for await (const chunk of decodeText(chunks, undefined, advice)) {
    const { text, faults } = lines.take(chunk)
    if (text !== '') yield rows.read(text, faults)
  }
  const { text, faults } = lines.end()
  yield rows.read(text, faults)
}

export function csvRowsOf({ columns, idStart, encoding }: ImportParameters) {
  const rows = createCsvRows({ columns, idStart })
  return async function* rowsOf(chunks: AsyncIterable<Buffer>): AsyncGenerator<ImportRows, undefined> {
    const advice = (found: string) => `Set the parameter encoding to ${found}.`
    for await (const chunk of decodeText(chunks, encoding, advice)) yield rows.read(chunk)
    yield rows.end()
  }
}
