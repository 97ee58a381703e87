import type { ImportRowError } from '../../../src/client/plant-store-client.ts'
import { numberedHeader } from '../../../src/plants/import/table-dialect.ts'
import type { RowSlice, RowsStart } from './row-slices.ts'

/** So much is gathered before it becomes a part of the file, which the browser may put on disk. */
const PART_BYTES = 1024 * 1024

/** The failed rows, as they stand in the file, to be corrected and imported again. */
export interface FailedRows {
  /** What the file begins with: a byte order mark, and the header row where it has one. */
  begin(start: RowsStart): void
  /** Takes the rows of these errors, whose lines are those of the file. */
  take(slice: RowSlice, errors: readonly ImportRowError[]): void
  file(): Blob
}

/**
 * Where rows are numbered, each gets its number as a cell of its own before the others. What became UTF-8 only here
 * gets a byte order mark, by which spreadsheets know it.
 */
export function createFailedRows(isNumbered: boolean, isMarked: boolean): FailedRows {
  const parts: Blob[] = []
  let chunks: (string | Uint8Array<ArrayBuffer>)[] = []
  let gathered = 0
  function gather(chunk: string | Uint8Array<ArrayBuffer>): void {
    chunks.push(chunk)
    gathered += chunk.length
    if (gathered < PART_BYTES) return
    parts.push(new Blob(chunks))
    chunks = []
    gathered = 0
  }
  return {
    begin({ header, mark }) {
      gather(isMarked ? '\ufeff' : mark)
      gather(isNumbered && header.length > 0 ? numberedHeaderBytes(header) : header)
    },
    take(slice, errors) {
      if (errors.length === 0) return
      const places = new Map(slice.lines.map((line, at) => [line, at]))
      for (const { line, id } of errors) {
        const at = places.get(line)
        if (at === undefined) continue
        if (isNumbered) gather(`${id ?? ''},`)
        gather(slice.bytes.slice(slice.starts[at], slice.starts[at + 1]))
      }
    },
    file: () => new Blob([...parts, ...chunks]),
  }
}

/** The header row of rows that were numbered, as bytes. */
function numberedHeaderBytes(header: Uint8Array): Uint8Array<ArrayBuffer> {
  // A character for each byte: those that matter here are the same in every encoding.
  const text = Array.from(header, (byte) => String.fromCharCode(byte)).join('')
  return Uint8Array.from(numberedHeader(text), (character) => character.charCodeAt(0))
}
