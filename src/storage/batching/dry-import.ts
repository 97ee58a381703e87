import { DatabaseSync } from 'node:sqlite'
import { AppError } from '../../errors.ts'

/** The primary result code of a full disk (sqlite.org/rescode.html): the low byte of an extended one. */
const SQLITE_FULL = 13

/** Computes what an import would do. */
export interface DryImport {
  /** For each id in order, whether a plant would be created: the id is neither stored nor an earlier row. */
  add(ids: BigInt64Array): Promise<boolean[]>
  close(): Promise<void>
}

/**
 * Holds the ids of an import in a temporary SQLite database, in memory while it is small and on disk when it is large:
 * memory is constant for any number of rows.
 */
export function openDryImport(findTaken: (ids: BigInt64Array) => Promise<ReadonlySet<bigint>>): DryImport {
  const database = new DatabaseSync('')
  database.exec('PRAGMA journal_mode = OFF; CREATE TABLE ids (id INTEGER PRIMARY KEY) STRICT')
  const insertId = database.prepare('INSERT INTO ids VALUES (?) ON CONFLICT DO NOTHING')
  insertId.setReadBigInts(true)
  /** The last chunk: each one starts after the previous one. */
  let last: Promise<unknown> = Promise.resolve()

  async function addNext(ids: BigInt64Array): Promise<boolean[]> {
    const taken = await findTaken(ids)
    try {
      database.exec('BEGIN')
      const isNew = Array.from(ids, (id) => insertId.run(id).changes !== 0n && !taken.has(id))
      database.exec('COMMIT')
      return isNew
    } catch (cause) {
      const isFull = ((cause as { errcode?: number }).errcode ?? 0) % 256 === SQLITE_FULL
      throw isFull
        ? new AppError(50701, 'The disk is too full for the temporary file of the dry run.', { cause })
        : new AppError(50302, 'The temporary file of the dry run failed. Retry in a moment.', { cause })
    }
  }

  return {
    add(ids) {
      const chunk = last.then(() => addNext(ids))
      last = chunk.catch(() => {})
      return chunk
    },
    async close() {
      await last
      database.close()
    },
  }
}
