import { nameHolds } from '../../plants/plant-search.ts'
import {
  firstIdAfter,
  type PlantPage,
  type PlantQuery,
  type PlantStore,
  type TagCount,
} from '../../plants/plant-store.ts'
import type { GroupCommit } from '../batching/group-commit.ts'
import { createPlantImporting } from '../batching/plant-import.ts'
import { createPlantWriting, type PlantWrite, type PlantWriteOutcome } from '../batching/plant-write.ts'
import {
  ADDITION_DAY,
  CONTENT_COLUMNS,
  PAGE_CHARACTERS_MAX,
  PLANT_COLUMNS,
  type PlantRow,
  placeInRow,
  plantRows,
  readPage,
  readTags,
  rowToPlant,
} from '../plant-columns.ts'
import type { PlantExporting } from '../plant-export.ts'
import { idsAsArray } from './commit/import-plants.ts'
import type { PostgresClient, Sql } from './connection/client.ts'
import { hasTag } from './tag-condition.ts'
import { tsquery } from './tsquery.ts'

export interface PostgresPlantStoreOptions {
  client: PostgresClient
  writes: GroupCommit<PlantWrite, PlantWriteOutcome>
  exporting: PlantExporting
  nowMs: () => number
}

const NAME_AT = placeInRow('name')
const SELECT_LAST_ID = 'SELECT id FROM plants WHERE id <= $1 ORDER BY id DESC LIMIT 1'
const CHARACTERS = CONTENT_COLUMNS.map(({ column }) => `coalesce(char_length(${column}), 0)`).join(' + ')

/** `PlantStore` on PostgreSQL. */
export function createPostgresPlantStore({
  client,
  writes,
  exporting,
  nowMs,
}: PostgresPlantStoreOptions): PlantStore {
  const selectPlant = `SELECT ${PLANT_COLUMNS} FROM plants WHERE id = $1`
  const selectTaken = 'SELECT id FROM plants WHERE id = ANY($1::bigint[])'
  const countDays = `
    SELECT ${ADDITION_DAY} AS day, count(*), max(id) FROM (
      SELECT id, created_at FROM plants WHERE id >= $1 ORDER BY id LIMIT $2
    ) AS chunk GROUP BY day ORDER BY max(id)`
  const selectPage = boundedPage('id >= $1')
  const selectTagged = boundedPage(`${hasTag('$3')} AND id >= $1`)
  const selectFound = boundedPage('words @@ $3::tsquery AND id >= $1 AND ($4::text IS NULL OR tag = $4)')

  async function listById(sql: Sql, { limit, afterId, tag }: PlantQuery): Promise<PlantPage> {
    const from = firstIdAfter(afterId)
    if (from === undefined) return { plants: [], hasMore: false }
    const rows = await (tag === undefined
      ? selectPlants(sql, selectPage, [from, limit + 1])
      : selectPlants(sql, selectTagged, [from, limit + 1, tag]))
    return readPage(rows, limit)
  }

  async function search(
    sql: Sql,
    { limit, afterId, tag, words }: PlantQuery & { words: readonly string[] },
  ): Promise<PlantPage> {
    if (words.length === 0) return { plants: [], hasMore: false }
    const query = tsquery(words)
    const matching: PlantRow[] = []
    let from = firstIdAfter(afterId)
    while (from !== undefined && !readPage(matching, limit).hasMore) {
      // Not prepared: the best plan depends on how common the words are.
      const rows = await selectPlants(sql, selectFound, [from, limit + 1, query, tag ?? null], {
        prepare: false,
      })
      // Words are truncated in the index; the name itself decides.
      matching.push(...rows.filter((row) => nameHolds(row[NAME_AT] as string, words)))
      // If all rows fit in a page, there are no more matches.
      const last = readPage(rows, limit).hasMore ? rows.at(-1) : undefined
      from = last === undefined ? undefined : firstIdAfter(last[0])
    }
    return readPage(matching, limit)
  }

  return {
    ...createPlantWriting(writes.submit, nowMs),
    ...createPlantImporting({
      submit: (write) => writes.submit(write, { isPaced: true }),
      findTaken: (ids) =>
        client.read(async (sql) => {
          const rows = await sql.unsafe(selectTaken, [idsAsArray(ids)], { prepare: true }).values()
          return new Set(rows.map(([id]) => id as bigint))
        }),
      nowMs,
    }),
    exportPlants: exporting.exportPlants,
    get: (id, options) =>
      client.read(async (sql) => {
        const [row] = await selectPlants(sql, selectPlant, [id])
        return row === undefined ? undefined : rowToPlant(row)
      }, options),
    list(query, options) {
      const { words } = query
      if (words === undefined) return client.read((sql) => listById(sql, query), { ...options, kind: 'page' })
      return client.read((sql) => search(sql, { ...query, words }), { ...options, kind: 'search' })
    },
    lastIdUpTo: (max, options) => client.read((sql) => findLastId(sql, max), options),
    countTags: (limit, options) =>
      client.read((sql) => countTags(sql, limit), { ...options, kind: 'search' }),
    countAdditions: (afterId, limit) =>
      client.read(
        async (sql) => {
          const from = firstIdAfter(afterId)
          if (from === undefined) return { days: [], lastId: undefined }
          // The driver does not type the rows of a statement: these are the columns of `countDays`.
          const rows = (await sql
            .unsafe(countDays, [from, limit], { prepare: true })
            .values()) as unknown as [day: bigint, count: bigint, lastId: bigint][]
          const days = rows.map(([day, count]) => ({ day: Number(day), count: Number(count) }))
          const found = days.reduce((sum, { count }) => sum + count, 0)
          return { days, lastId: found < limit ? undefined : rows.at(-1)?.[2] }
        },
        { kind: 'search' },
      ),
  }
}

async function findLastId(sql: Sql, max: bigint): Promise<bigint | undefined> {
  const [row] = await sql.unsafe(SELECT_LAST_ID, [max], { prepare: true }).values()
  return row?.[0] as bigint | undefined
}

async function countTags(sql: Sql, limit: number): Promise<TagCount[]> {
  const rows = await sql<{ tag: string; count: bigint }[]>`
    SELECT tag, count FROM (
      SELECT tag, count, sum(char_length(tag)) OVER (
        ORDER BY count DESC, tag COLLATE "C" ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
      ) AS characters_before
      FROM (SELECT tag, count(*) AS count FROM plants WHERE tag IS NOT NULL GROUP BY tag) AS counted
      ORDER BY count DESC, tag COLLATE "C" LIMIT ${limit}
    ) AS measured
    WHERE characters_before IS NULL OR characters_before <= ${PAGE_CHARACTERS_MAX}
    ORDER BY count DESC, tag COLLATE "C"`
  return readTags(rows.map(({ tag, count }) => ({ tag, count: Number(count) })))
}

async function selectPlants(
  sql: Sql,
  statement: string,
  parameters: (bigint | number | string | null)[],
  { prepare } = { prepare: true },
): Promise<PlantRow[]> {
  const rows = await sql.unsafe(statement, parameters, { prepare }).values()
  return plantRows(rows)
}

/**
 * Selects the first $2 plants that match, by id, but only as many as a page may hold: a thousand names of a megabyte do
 * not fit in memory. A row beyond the page shows that there are more.
 */
function boundedPage(condition: string): string {
  return `
    SELECT ${PLANT_COLUMNS} FROM (
      SELECT *, sum(${CHARACTERS})
        OVER (ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND 2 PRECEDING) AS characters_before
      FROM (SELECT ${PLANT_COLUMNS} FROM plants WHERE ${condition} ORDER BY id LIMIT $2) AS matching
    ) AS measured
    WHERE characters_before IS NULL OR characters_before <= ${PAGE_CHARACTERS_MAX} ORDER BY id`
}
