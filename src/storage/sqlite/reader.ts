import type { StatementSync } from 'node:sqlite'
import { openReader, storageError } from './connection/sqlite-connection.ts'

/**
 * Short reads, in the main thread. Those of one turn of the event loop share a transaction: to begin and end
 * one costs as much as to find a plant. A turn serves what had arrived when it began, so its reads see
 * everything that was acknowledged before they were asked for.
 */
export interface Reader {
  prepare(sql: string): StatementSync
  /** Runs a read to its end; its failure is one of the storage (AppError). */
  read<Result>(work: () => Result): Result
  /** Lets the next read see what has been committed meanwhile: to be called before a write is acknowledged. */
  refresh(): void
  close(): void
}

export function createReader(path: string): Reader {
  const database = openReader(path)
  const begin = database.prepare('BEGIN')
  const end = database.prepare('COMMIT')
  let turnEnd: NodeJS.Immediate | undefined

  function endTurn(): void {
    turnEnd = undefined
    refresh()
  }

  function refresh(): void {
    // A write that nobody waits for may be answered after the end.
    if (database.isOpen && database.isTransaction) end.run()
  }

  return {
    prepare: (sql) => database.prepare(sql),
    read(work) {
      try {
        if (!database.isTransaction) {
          begin.run()
          turnEnd ??= setImmediate(endTurn)
        }
        return work()
      } catch (error) {
        refresh()
        throw storageError(error)
      }
    },
    refresh,
    close() {
      clearImmediate(turnEnd)
      database.close()
    },
  }
}
