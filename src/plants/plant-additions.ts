import type { XStatic } from 'typebox/schema'
import type { PlantStore } from './plant-store.ts'

/**
 * Plants that a step of a count may read: several milliseconds. More would hold up for too long what waits behind it,
 * and a statement of a database that is slow today could run into its time limit.
 */
export const COUNT_STEP_PLANTS_MAX = 50_000

/** An answer is given so long at least: a picture of days is no older for a minute. */
const KEPT_MS_MIN = 60_000

/**
 * And so many times as long as its count took, so that counts take 2 % of the time at most, however many plants there
 * are.
 */
const KEPT_TIMES = 50

const DAY_MS = 86_400_000

/** How many of the plants that there are were added on a day. */
export const DayCountSchema = {
  type: 'object',
  required: ['day', 'count'],
  properties: {
    day: { type: 'string', format: 'date', description: 'From midnight to midnight UTC' },
    count: { type: 'integer', minimum: 1 },
  },
} as const

export const AdditionsSchema = {
  type: 'object',
  required: ['countedAt', 'days'],
  properties: {
    countedAt: {
      type: 'string',
      format: 'date-time',
      description: 'When the count began. Plants that were added or removed since may be in it or not.',
    },
    days: {
      type: 'array',
      description: 'The days on which plants were added, in order. A day without any is not among them.',
      items: { $ref: '#/components/schemas/DayCount' },
    },
  },
} as const

export type DayCount = XStatic<typeof DayCountSchema>

export interface Additions {
  countedAt: string
  days: DayCount[]
}

export interface AdditionsCounting {
  plants: Pick<PlantStore, 'countAdditions'>
  /** The time of day, in milliseconds since 1970. */
  nowMs?: () => number
  /** A clock that nobody sets. */
  elapsedMs?: () => number
}

/**
 * Counts on which days the plants were added, by reading them all. One count runs at a time, which all share who ask
 * meanwhile, and its answer is kept for a while. Rejects as the store does; then the next one who asks begins anew.
 */
export function createAdditionsCount({
  plants,
  nowMs = Date.now,
  elapsedMs = () => performance.now(),
}: AdditionsCounting): () => Promise<Additions> {
  let kept: { additions: Additions; untilMs: number } | undefined
  let running: Promise<Additions> | undefined

  async function count(): Promise<Additions> {
    const startMs = elapsedMs()
    const countedAt = new Date(nowMs()).toISOString()
    const countOfDay = new Map<number, number>()
    let afterId: bigint | undefined
    do {
      const step = await plants.countAdditions(afterId, COUNT_STEP_PLANTS_MAX)
      for (const { day, count } of step.days) countOfDay.set(day, (countOfDay.get(day) ?? 0) + count)
      afterId = step.lastId
    } while (afterId !== undefined)
    const additions = { countedAt, days: inOrder(countOfDay) }
    const endMs = elapsedMs()
    kept = { additions, untilMs: endMs + Math.max(KEPT_MS_MIN, KEPT_TIMES * (endMs - startMs)) }
    return additions
  }

  return async () => {
    if (kept !== undefined && elapsedMs() < kept.untilMs) return kept.additions
    running ??= count().finally(() => {
      running = undefined
    })
    return running
  }
}

function inOrder(countOfDay: ReadonlyMap<number, number>): DayCount[] {
  return [...countOfDay]
    .sort(([one], [other]) => one - other)
    .map(([day, count]) => ({ day: new Date(day * DAY_MS).toISOString().slice(0, 10), count }))
}
