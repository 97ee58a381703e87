import type { StatementSync } from 'node:sqlite'
import { storageError } from './connection/failure.ts'
import { openReader } from './connection/open-connection.ts'

/**
 * Short reads in the main thread. The reads of one turn of the event loop share a transaction, as a transaction costs
 * as much as finding a plant. A turn runs only requests that had arrived when it began, so a read sees every write that
 * was acknowledged before its request.
 */
export interface Reader {
  prepare(sql: string): StatementSync
  /** Runs a read. Throws an AppError (50302 or 50701). */
  read<Result>(work: () => Result): Result
  close(): void
}

/** `commits` returns the number of commits of this process: a read after a commit sees it. */
export function createReader(path: string, commits: () => number): Reader {
  const database = openReader(path)
  const begin = database.prepare('BEGIN')
  const end = database.prepare('COMMIT')
  let turnEnd: NodeJS.Immediate | undefined
  let commitsSeen = 0

  function endTurn(): void {
    turnEnd = undefined
    refresh()
  }

  function refresh(): void {
    if (database.isOpen && database.isTransaction) end.run()
  }

  return {
    prepare: (sql) => database.prepare(sql),
    read(work) {
      try {
        if (database.isTransaction && commits() !== commitsSeen) refresh()
        if (!database.isTransaction) {
          commitsSeen = commits()
          begin.run()
          turnEnd ??= setImmediate(endTurn)
        }
        return work()
      } catch (error) {
        refresh()
        throw storageError(error)
      }
    },
    close() {
      clearImmediate(turnEnd)
      database.close()
    },
  }
}
