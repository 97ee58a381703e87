import type { DatabaseSync } from 'node:sqlite'
import { type AdditionsStep, firstIdAfter } from '../../../plants/plant-store.ts'
import { ADDITION_DAY } from '../../plant-columns.ts'

/** Plants that are read before the clock is looked at: a millisecond, as a rule. */
const ROWS_AT_ONCE = 1_000

/**
 * A step ends after so long, however few plants it has read: where names are long, to find the time behind them takes
 * a hundred times as long. So long a search may have to wait for it.
 */
const STEP_MS = 5

type DayRow = [day: bigint, count: bigint, lastId: bigint]

/** `PlantStore.countAdditions`, in the thread that calls it. */
export function createAdditionsStep(database: DatabaseSync) {
  const countDays = database.prepare(`
    SELECT ${ADDITION_DAY} AS day, count(*), max(id) FROM (
      SELECT id, created_at FROM plants WHERE id >= ? ORDER BY id LIMIT ?
    ) GROUP BY day ORDER BY max(id)`)
  countDays.setReadBigInts(true)
  countDays.setReturnArrays(true)

  return (afterId: bigint | undefined, limit: number): AdditionsStep => {
    const endMs = performance.now() + STEP_MS
    const countOfDay = new Map<number, number>()
    let lastId = afterId
    let left = limit
    do {
      const fromId = firstIdAfter(lastId)
      const wanted = Math.min(left, ROWS_AT_ONCE)
      // node:sqlite does not know what a statement gives: rows as arrays, in the columns of `countDays`.
      const rows = fromId === undefined ? [] : (countDays.all(fromId, wanted) as unknown as DayRow[])
      let found = 0
      for (const [day, count, last] of rows) {
        countOfDay.set(Number(day), (countOfDay.get(Number(day)) ?? 0) + Number(count))
        found += Number(count)
        lastId = last
      }
      if (found < wanted) lastId = undefined
      left -= found
    } while (lastId !== undefined && left > 0 && performance.now() < endMs)
    return { days: Array.from(countOfDay, ([day, count]) => ({ day, count })), lastId }
  }
}
