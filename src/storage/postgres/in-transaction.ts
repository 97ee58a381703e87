import type { Sql, Transaction } from './postgres-client.ts'
import { failureOf } from './postgres-failure.ts'

/** Runs the work in a transaction, and commits it when the work fulfils. */
export function inTransaction<Result>(
  sql: Sql,
  work: (transaction: Transaction) => Promise<Result>,
): Promise<Result> {
  return sql.begin(async (transaction) => {
    try {
      return await work(transaction)
    } catch (error) {
      // The driver would send its rollback into a connection that is gone, which throws where nobody catches;
      // left alone, it rejects by itself as the connection closes.
      if (failureOf(error) === 'lost') await new Promise<never>(() => {})
      throw error
    }
  }) as Promise<Result>
}
