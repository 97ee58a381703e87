import type { DatabaseSync } from 'node:sqlite'
import { type AdditionsStep, firstIdAfter } from '../../../plants/plant-store.ts'
import { ADDITION_DAY } from '../../plant-columns.ts'

/** Plants that are read between checks of the clock: a millisecond, as a rule. */
const ROWS_AT_ONCE = 1_000

/**
 * The length of a step, and so the time that a search may have to wait for it. Plants with long names take a hundred
 * times as long, as their times are stored after the names.
 */
const STEP_MS = 5

type DayRow = [day: bigint, count: bigint, lastId: bigint]

/** `PlantStore.countAdditions`, run in the calling thread. */
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
      // node:sqlite does not type the rows of a statement: these are the columns of `countDays`, as arrays.
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
