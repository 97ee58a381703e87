import {
  CREATED,
  type ImportWrite,
  type ImportWriteOutcome,
  KEPT,
  REPLACED,
} from '../../batching/plant-write.ts'
import type { StoredRows } from './stored-rows.ts'

/** Stores chunks of imports, within the transaction of the caller. */
export function createImportChunkWriting(rows: StoredRows) {
  return function importChunk(write: ImportWrite): ImportWriteOutcome {
    const { atMs, replacesTaken } = write
    const codes = new Uint8Array(write.ids.length)
    for (let at = 0; at < codes.length; at++) {
      if (rows.insertAt(at, write, atMs)) codes[at] = CREATED
      else if (replacesTaken) {
        rows.replaceAt(at, write, atMs)
        codes[at] = REPLACED
      } else codes[at] = KEPT
    }
    return { outcome: 'imported', codes }
  }
}
