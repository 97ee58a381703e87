import type { XStatic } from 'typebox/schema'
import type { PlantStore } from './plant-store.ts'
import { DAY_MS, expressibleTime } from './time-text.ts'

/**
 * The maximum number of plants that one step of a count reads: several milliseconds. A longer step would block the
 * queued reads for too long, and on a slow database it could reach the statement timeout.
 */
const COUNT_STEP_PLANTS_MAX = 50_000

/** The minimum time for which a count is cached: a chart of days does not change visibly within a minute. */
const CACHED_MS_MIN = 60_000

/**
 * A slow count is cached for this multiple of its duration, so that counts run at most 2 % of the time, whatever the
 * size of the store.
 */
const CACHED_DURATIONS = 50

/** The number of plants created on a day. Deleted plants are not counted. */
export const DayCountSchema = {
  type: 'object',
  required: ['day', 'count'],
  properties: {
    day: { type: 'string', format: 'date', description: 'The day, from midnight to midnight UTC' },
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
      description: 'The time at which the count began. It may or may not include later creates and deletes.',
    },
    days: {
      type: 'array',
      description: 'The days on which plants were created, in order. Days without any are omitted.',
      items: { $ref: '#/components/schemas/DayCount' },
    },
  },
} as const

type DayCount = XStatic<typeof DayCountSchema>

export interface Additions {
  countedAt: string
  days: DayCount[]
}

export interface AdditionsCounting {
  plants: Pick<PlantStore, 'countAdditions'>
  /** The time of day, in milliseconds since 1970. */
  nowMs?: () => number
  /** A monotonic clock, in milliseconds. */
  elapsedMs?: () => number
}

/**
 * Counts the plants by the day of their creation, by reading all of them. Concurrent calls share one count, and its
 * result is cached. Rejects like the store; the next call then starts a new count.
 */
export function createAdditionsCount({
  plants,
  nowMs = Date.now,
  elapsedMs = () => performance.now(),
}: AdditionsCounting): () => Promise<Additions> {
  let cached: { additions: Additions; untilMs: number } | undefined
  let running: Promise<Additions> | undefined

  async function count(): Promise<Additions> {
    const startMs = elapsedMs()
    const countedAt = new Date(nowMs()).toISOString()
    const countOfDay = new Map<number, number>()
    let afterId: bigint | undefined
    do {
      const step = await plants.countAdditions(afterId, COUNT_STEP_PLANTS_MAX)
      for (const { day: storedDay, count } of step.days) {
        const day = Math.floor(expressibleTime(storedDay * DAY_MS) / DAY_MS)
        countOfDay.set(day, (countOfDay.get(day) ?? 0) + count)
      }
      afterId = step.lastId
    } while (afterId !== undefined)
    const additions = { countedAt, days: inOrder(countOfDay) }
    const endMs = elapsedMs()
    cached = { additions, untilMs: endMs + Math.max(CACHED_MS_MIN, CACHED_DURATIONS * (endMs - startMs)) }
    return additions
  }

  return async () => {
    if (cached !== undefined && elapsedMs() < cached.untilMs) return cached.additions
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
