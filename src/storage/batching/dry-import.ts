import { DatabaseSync } from 'node:sqlite'
import { AppError } from '../../errors.ts'

/** The result code for it (sqlite.org/rescode.html); extended codes keep it in their low byte. */
const SQLITE_FULL = 13

/** What an import would do, without doing it. */
export interface DryImport {
  /** For each id in order whether a plant would be created: it is not taken and came not before. */
  add(ids: BigInt64Array): Promise<boolean[]>
  close(): Promise<void>
}

/**
 * Remembers the ids of an import in a temporary database of its own, which SQLite keeps in memory while it is
 * small, on disk when it is large, and removes in the end: memory stays constant for any number of rows.
 */
export function openDryImport(findTaken: (ids: BigInt64Array) => Promise<ReadonlySet<bigint>>): DryImport {
  const database = new DatabaseSync('')
  database.exec('PRAGMA journal_mode = OFF; CREATE TABLE ids (id INTEGER PRIMARY KEY) STRICT')
  const insertId = database.prepare('INSERT INTO ids VALUES (?) ON CONFLICT DO NOTHING')
  insertId.setReadBigInts(true)
  /** The steps so far: each begins when the one before it has ended. */
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
      const step = last.then(() => addNext(ids))
      last = step.catch(() => {})
      return step
    },
    async close() {
      await last
      database.close()
    },
  }
}
