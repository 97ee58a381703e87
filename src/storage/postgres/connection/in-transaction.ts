import type { Sql, Transaction } from './client.ts'
import { codeOf, failureOf } from './failure.ts'

/** Runs the work in a transaction and commits it when the work fulfils. Every transaction goes through here. */
export function inTransaction<Result>(
  sql: Sql,
  work: (transaction: Transaction) => Promise<Result>,
): Promise<Result> {
  return sql.begin(async (transaction) => {
    try {
      return await work(transaction)
    } catch (error) {
      // On a lost connection the rollback of the driver would throw an uncaught error. Without it the driver rejects
      // when the connection closes. An error without a code is one of this program: its connection is open, so it must
      // be rethrown.
      if (codeOf(error) !== '' && failureOf(error) === 'lost') await new Promise<never>(() => {})
      throw error
    }
  }) as Promise<Result>
}
