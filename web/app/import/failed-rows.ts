import type { ImportRowError } from '../../../src/client/plant-store-client.ts'
import { numberedHeader } from '../../../src/plants/import/table-dialect.ts'
import type { RowSlice, RowsStart } from './row-slices.ts'

/** Rows are merged into blobs of this size, which the browser may move to disk. */
const PART_BYTES = 1024 * 1024

/** Collects failed rows, byte for byte as in the file, for a file to correct and import. */
export interface FailedRows {
  /** Copies the start of the file: its byte order mark and header row. */
  begin(start: RowsStart): void
  /** Adds the rows of these errors. Their line numbers are those of the file. */
  take(slice: RowSlice, errors: readonly ImportRowError[]): void
  file(): Blob
}

/**
 * If rows are numbered, each gets its id as a first cell. `isMarked`: a text that was converted to UTF-8 gets a byte
 * order mark, by which spreadsheets recognise it.
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

/** The header row with an id column in front, as bytes. */
function numberedHeaderBytes(header: Uint8Array): Uint8Array<ArrayBuffer> {
  // One character per byte: the relevant characters are ASCII in every encoding.
  const text = Array.from(header, (byte) => String.fromCharCode(byte)).join('')
  return Uint8Array.from(numberedHeader(text), (character) => character.charCodeAt(0))
}
