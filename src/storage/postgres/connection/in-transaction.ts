import type { Sql, Transaction } from './client.ts'
import { codeOf, failureOf } from './failure.ts'

/** Runs the work in a transaction, and commits it when the work fulfils. Every transaction goes through here. */
export function inTransaction<Result>(
  sql: Sql,
  work: (transaction: Transaction) => Promise<Result>,
): Promise<Result> {
  return sql.begin(async (transaction) => {
    try {
      return await work(transaction)
    } catch (error) {
      // The driver would send its rollback into a connection that is gone, which throws where nobody catches;
      // left alone, it rejects by itself as the connection closes. What has no code is of this program: its
      // connection is there, and nothing else would ever reject.
      if (codeOf(error) !== '' && failureOf(error) === 'lost') await new Promise<never>(() => {})
      throw error
    }
  }) as Promise<Result>
}
