import { createRowReader } from '../../../src/plants/import/row-reader.ts'
import type { Delimiter } from '../../../src/plants/import/table-dialect.ts'

export type Seen = [line: number, cells: string[] | string]

/** The rows of a text that arrives in chunks of these sizes, repeatedly; for a failed row its fault. */
export function rowsOf(
  text: string | Buffer,
  sizes: readonly number[] = [64 * 1024],
  delimiter: Delimiter = ',',
): Seen[] {
  const bytes = Buffer.from(text as string)
  const seen: Seen[] = []
  const reader = createRowReader(
    ({ cells, line, fault }) => seen.push([line, fault ?? [...cells]]),
    delimiter,
  )
  for (let at = 0, chunk = 0; at < bytes.length; chunk++) {
    const size = sizes[chunk % sizes.length] ?? 1
    reader.read(bytes.subarray(at, at + size))
    at += size
  }
  reader.end()
  return seen
}
