import type { StatementSync } from 'node:sqlite'
import { storageError } from './connection/failure.ts'
import { openReader } from './connection/open-connection.ts'

/**
 * Short reads, in the main thread. Those of one turn of the event loop share a transaction: to begin and end
 * one costs as much as to find a plant. A turn serves what had arrived when it began, so its reads see
 * everything that was acknowledged before they were asked for.
 */
export interface Reader {
  prepare(sql: string): StatementSync
  /** Runs a read to its end; its failure is one of the storage (AppError). */
  read<Result>(work: () => Result): Result
  close(): void
}

/** `commits` counts the commits of this process: a read after one of them sees it. */
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
