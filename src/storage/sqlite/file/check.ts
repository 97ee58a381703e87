import type { DatabaseSync } from 'node:sqlite'
import { KEY_CHARACTERS_MAX } from '../../../plants/idempotency-key.ts'
import { SCOPES } from '../../../tokens/token.ts'
import { CONTENT_COLUMNS } from '../../plant-columns.ts'
import { openReader } from '../connection/open-connection.ts'
import { checkIsStore } from '../connection/schema.ts'

/** Findings of one kind that are told one by one: a damaged file has no end of them. */
const FINDINGS_MAX = 100

/** A time that a Date can hold, in milliseconds since 1970. */
const TIME_MS_MAX = 8.64e15

/** How many of the steps are done, and what comes. */
export interface CheckProgress {
  doing: string
  done: number
  total: number
}

interface CheckStep {
  doing: string
  /** Looks, and gives what is wrong. */
  find(database: DatabaseSync): string[]
}

const STEPS: readonly CheckStep[] = [
  {
    doing: 'pages and indexes',
    find: (database) =>
      database
        .prepare(`PRAGMA integrity_check(${FINDINGS_MAX})`)
        .all()
        .map((row) => String(row.integrity_check).replaceAll('\n', ' '))
        .filter((finding) => finding !== 'ok'),
  },
  { doing: 'tags against plants', find: findTags },
  { doing: 'search index against plants', find: findUnsearchable },
  { doing: 'plants', find: findPlants },
  { doing: 'tokens', find: findTokens },
  { doing: 'idempotency keys', find: findKeys },
]

/**
 * Examines a store, which may be in use, as it is at one moment, and gives what is wrong with it, a line each. Changes
 * nothing. Throws a SetupError when it is no store.
 */
export function checkStore(path: string, onProgress: (progress: CheckProgress) => void): string[] {
  const database = openReader(path)
  try {
    database.exec('BEGIN')
    checkIsStore(database, path)
    return STEPS.flatMap(({ doing, find }, done) => {
      onProgress({ doing, done, total: STEPS.length })
      try {
        return find(database)
      } catch (error) {
        return [`${doing}: cannot be read: ${(error as Error).message}`]
      }
    })
  } finally {
    database.close()
  }
}

function findTags(database: DatabaseSync): string[] {
  const count = (hint: string) =>
    countOf(database, `SELECT count(*) AS count FROM plants ${hint} WHERE tag IS NOT NULL`)
  const inTable = count('NOT INDEXED')
  const inIndex = count('INDEXED BY plants_by_tag')
  if (inTable === inIndex) return []
  return [`tags: ${inTable} plants have one, and the index of tags has ${inIndex}`]
}

/** A plant is in the index of words or waits to be; what waits may be gone. */
function findUnsearchable(database: DatabaseSync): string[] {
  const waiting = readWaitingIds(database)
  return [
    ...findOthers(database, waiting, {
      sql: `SELECT id FROM plants
        WHERE NOT EXISTS (SELECT 1 FROM plant_words_docsize AS words WHERE words.id = plants.id) ORDER BY id`,
      what: 'is not in the search index, nor waits for it',
    }),
    ...findOthers(database, waiting, {
      sql: `SELECT id FROM plant_words_docsize AS words
        WHERE NOT EXISTS (SELECT 1 FROM plants WHERE plants.id = words.id) ORDER BY id`,
      what: 'is in the search index and is no plant',
    }),
  ]
}

/** In order, and as 64-bit numbers: a million plants may wait. */
function readWaitingIds(database: DatabaseSync): BigInt64Array {
  const count = countOf(database, 'SELECT sum(length(plant_ids)) / 8 AS count FROM unindexed_batches')
  const ids = new BigInt64Array(count)
  const bytes = new Uint8Array(ids.buffer)
  let end = 0
  for (const { plant_ids } of database.prepare('SELECT plant_ids FROM unindexed_batches').iterate()) {
    bytes.set(plant_ids as Uint8Array, end)
    end += (plant_ids as Uint8Array).length
  }
  return ids.sort()
}

/** The ids that a query gives in their order, without those that wait. */
function findOthers(
  database: DatabaseSync,
  waiting: BigInt64Array,
  { sql, what }: { sql: string; what: string },
): string[] {
  const statement = database.prepare(sql)
  statement.setReadBigInts(true)
  const findings: string[] = []
  let at = 0
  let more = 0
  for (const row of statement.iterate()) {
    const id = row.id as bigint
    while (at < waiting.length && (waiting[at] as bigint) < id) at++
    if (waiting[at] === id) continue
    if (findings.length < FINDINGS_MAX) findings.push(`id ${id} ${what}`)
    else more++
  }
  return more === 0 ? findings : [...findings, `${more} more: each ${what}`]
}

function findPlants(database: DatabaseSync): string[] {
  const content = CONTENT_COLUMNS.filter(({ column }) => hasColumn(database, 'plants', column)).map(
    ({ name, column, type, isRequired }) => {
      const types = isRequired ? `'${type}'` : `'${type}', 'null'`
      return [`the ${name} is no ${type}`, `typeof(${column}) NOT IN (${types})`]
    },
  )
  return findRows(database, "SELECT 'plant ' || id AS row, * FROM plants", {
    'the id is no 64-bit integer': "typeof(id) <> 'integer'",
    ...Object.fromEntries(content),
    'created at no time': `typeof(created_at) <> 'integer' OR abs(created_at) > ${TIME_MS_MAX}`,
    'updated at no time, or before it was created': `typeof(updated_at) <> 'integer' OR updated_at > ${TIME_MS_MAX} OR updated_at < created_at`,
    'the version is no number below 2^53': `typeof(version) <> 'integer' OR version NOT BETWEEN 0 AND ${Number.MAX_SAFE_INTEGER}`,
  })
}

function findTokens(database: DatabaseSync): string[] {
  const isScope = SCOPES.map((scope) => `'${scope}'`).join(', ')
  return findRows(database, "SELECT 'token ' || id AS row, * FROM tokens AS token", {
    'its hash is no SHA-256 in hexadecimal digits': "length(hash) <> 64 OR hash GLOB '*[^0-9a-f]*'",
    'another token has the same hash':
      'EXISTS (SELECT 1 FROM tokens AS other WHERE other.hash = token.hash AND other.id <> token.id)',
    'it has a scope that there is not': `EXISTS (SELECT 1 FROM json_each('["' || replace(scopes, ' ', '","') || '"]') WHERE value NOT IN (${isScope}))`,
    'created at no time': `abs(created_at) > ${TIME_MS_MAX}`,
    'expires at no time': `abs(expires_at) > ${TIME_MS_MAX}`,
    'used at no time': `abs(last_used_at) > ${TIME_MS_MAX}`,
    ...(hasColumn(database, 'tokens', 'previous_hash') && {
      'the hash of its replaced secret is no SHA-256 in hexadecimal digits':
        "length(previous_hash) <> 64 OR previous_hash GLOB '*[^0-9a-f]*'",
      'its replaced secret is good until no time': `(previous_hash IS NULL) <> (previous_expires_at IS NULL) OR abs(previous_expires_at) > ${TIME_MS_MAX}`,
      'its replaced secret is that of a token':
        'EXISTS (SELECT 1 FROM tokens AS other WHERE other.hash = token.previous_hash)',
      'another token has the same replaced secret':
        'EXISTS (SELECT 1 FROM tokens AS other WHERE other.previous_hash = token.previous_hash AND other.id <> token.id)',
    }),
  })
}

/** A store of an older schema may lack it. */
function hasColumn(database: DatabaseSync, table: string, column: string): boolean {
  const sql = 'SELECT 1 FROM pragma_table_info(?) WHERE name = ?'
  return database.prepare(sql).get(table, column) !== undefined
}

function findKeys(database: DatabaseSync): string[] {
  return findRows(database, "SELECT 'an idempotency key of ' || caller AS row, * FROM idempotency_keys", {
    'its fingerprint is no SHA-256 in hexadecimal digits':
      "length(fingerprint) <> 64 OR fingerprint GLOB '*[^0-9a-f]*'",
    'it is empty or too long': `length(key) NOT BETWEEN 1 AND ${KEY_CHARACTERS_MAX} OR caller = ''`,
    'the version of its plant is no number below 2^53': `plant_version NOT BETWEEN 0 AND ${Number.MAX_SAFE_INTEGER}`,
    'created at no time': `abs(created_at) > ${TIME_MS_MAX}`,
  })
}

/** The rows for which one of the conditions holds, each with the first of them; `rows` gives them a name in `row`. */
function findRows(database: DatabaseSync, rows: string, wrong: Readonly<Record<string, string>>): string[] {
  const cases = Object.entries(wrong).map(([what, condition]) => `WHEN ${condition} THEN '${what}'`)
  const from = rows.replace('* FROM', `CASE ${cases.join(' ')} END AS what FROM`)
  return database
    .prepare(`SELECT row, what FROM (${from}) WHERE what IS NOT NULL LIMIT ${FINDINGS_MAX}`)
    .all()
    .map(({ row, what }) => `${row}: ${what}`)
}

function countOf(database: DatabaseSync, sql: string): number {
  return Number(database.prepare(sql).get()?.count)
}
