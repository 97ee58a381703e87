import { isUtf8 } from 'node:buffer'
import type { DatabaseSync } from 'node:sqlite'
import { KEY_CHARACTERS_MAX } from '../../../plants/idempotency-key.ts'
import { TIME_MS_MAX, TIME_MS_MIN } from '../../../plants/time-text.ts'
import { SCOPES } from '../../../tokens/token.ts'
import { CONTENT_COLUMNS } from '../../plant-columns.ts'
import { openForeign } from '../connection/open-connection.ts'
import { checkIsPlantStore, findSchemaDifferences } from '../connection/schema.ts'

/** Findings of one kind that are listed: a damaged file may have any number. */
const FINDINGS_MAX = 100

/** A time that RFC 3339 can express, as a condition of SQL. */
const IS_TIME = `BETWEEN ${TIME_MS_MIN} AND ${TIME_MS_MAX}`

/** How many steps are done, and the name of the next one. */
export interface CheckProgress {
  doing: string
  done: number
  total: number
}

interface CheckStep {
  doing: string
  /** Returns what is wrong, a line each. */
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
  { doing: 'texts of plants', find: findTexts },
  { doing: 'tokens', find: findTokens },
  { doing: 'idempotency keys', find: findKeys },
]

/**
 * Checks a snapshot of a database, which may be in use, and returns what is wrong with it, a line each. Changes
 * nothing. Throws a SetupError if it is not a Plant Store.
 */
export function checkDatabaseFile(path: string, onProgress: (progress: CheckProgress) => void): string[] {
  const database = openForeign(path)
  try {
    database.exec('BEGIN')
    checkIsPlantStore(database, path)
    // Nothing of another schema is run.
    const differences = findSchemaDifferences(database)
    if (differences.length > 0) return differences.slice(0, FINDINGS_MAX)
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

/** Each plant is in the index of words or queued for it; a queued one may be deleted. */
function findUnsearchable(database: DatabaseSync): string[] {
  const queued = readQueuedIds(database)
  return [
    ...findOthers(database, queued, {
      sql: `SELECT id FROM plants
        WHERE NOT EXISTS (SELECT 1 FROM plant_words_docsize AS words WHERE words.id = plants.id) ORDER BY id`,
      what: 'is neither in the search index nor queued for it',
    }),
    ...findOthers(database, queued, {
      sql: `SELECT id FROM plant_words_docsize AS words
        WHERE NOT EXISTS (SELECT 1 FROM plants WHERE plants.id = words.id) ORDER BY id`,
      what: 'is in the search index but is not a plant',
    }),
  ]
}

/** Sorted, in a typed array: a million plants may be queued. */
function readQueuedIds(database: DatabaseSync): BigInt64Array {
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

/** A finding for each id of a query (sorted by id) that is not queued. */
function findOthers(
  database: DatabaseSync,
  queued: BigInt64Array,
  { sql, what }: { sql: string; what: string },
): string[] {
  const statement = database.prepare(sql)
  statement.setReadBigInts(true)
  const findings: string[] = []
  let at = 0
  let more = 0
  for (const row of statement.iterate()) {
    const id = row.id as bigint
    while (at < queued.length && (queued[at] as bigint) < id) at++
    if (queued[at] === id) continue
    if (findings.length < FINDINGS_MAX) findings.push(`id ${id} ${what}`)
    else more++
  }
  return more === 0 ? findings : [...findings, `${more} more: each ${what}`]
}

function findPlants(database: DatabaseSync): string[] {
  const content = contentColumns(database).map(({ name, column, type, isRequired }) => {
    const types = isRequired ? `'${type}'` : `'${type}', 'null'`
    return [`the ${name} is not ${type}`, `typeof(${column}) NOT IN (${types})`]
  })
  return findRows(database, "SELECT 'plant ' || id AS row, * FROM plants", {
    'the id is not a 64-bit integer': "typeof(id) <> 'integer'",
    ...Object.fromEntries(content),
    'the time of creation is invalid': `typeof(created_at) <> 'integer' OR created_at NOT ${IS_TIME}`,
    'the time of the last write is invalid, or before the creation': `typeof(updated_at) <> 'integer' OR updated_at NOT ${IS_TIME} OR updated_at < created_at`,
    'the version is not an integer below 2^53': `typeof(version) <> 'integer' OR version NOT BETWEEN 0 AND ${Number.MAX_SAFE_INTEGER}`,
  })
}

/** A changed byte often leaves a text that is not UTF-8. SQLite does not notice. */
function findTexts(database: DatabaseSync): string[] {
  const findings: string[] = []
  for (const { name, column } of contentColumns(database)) {
    const rows = database.prepare(`SELECT id, CAST(${column} AS BLOB) AS bytes FROM plants`)
    rows.setReadBigInts(true)
    for (const { id, bytes } of rows.iterate()) {
      if (!(bytes instanceof Uint8Array) || (isUtf8(bytes) && !bytes.includes(0))) continue
      findings.push(`plant ${id}: the ${name} is not UTF-8 without U+0000`)
      if (findings.length === FINDINGS_MAX) return findings
    }
  }
  return findings
}

/** The columns of the content that this database has; an older schema may lack some. */
function contentColumns(database: DatabaseSync) {
  return CONTENT_COLUMNS.filter(({ column }) => hasColumn(database, 'plants', column))
}

function findTokens(database: DatabaseSync): string[] {
  const isScope = SCOPES.map((scope) => `'${scope}'`).join(', ')
  return findRows(database, "SELECT 'token ' || id AS row, * FROM tokens AS token", {
    'its hash is not a SHA-256 in hexadecimal digits': "length(hash) <> 64 OR hash GLOB '*[^0-9a-f]*'",
    'another token has the same hash':
      'EXISTS (SELECT 1 FROM tokens AS other WHERE other.hash = token.hash AND other.id <> token.id)',
    'it has an unknown scope': `EXISTS (SELECT 1 FROM json_each('["' || replace(scopes, ' ', '","') || '"]') WHERE value NOT IN (${isScope}))`,
    'the time of creation is invalid': `created_at NOT ${IS_TIME}`,
    'the time of expiry is invalid': `expires_at NOT ${IS_TIME}`,
    'the time of the last use is invalid': `last_used_at NOT ${IS_TIME}`,
    ...(hasColumn(database, 'tokens', 'previous_hash') && {
      'the hash of its old secret is not a SHA-256 in hexadecimal digits':
        "length(previous_hash) <> 64 OR previous_hash GLOB '*[^0-9a-f]*'",
      'its old secret has an invalid end of its grace period': `(previous_hash IS NULL) <> (previous_expires_at IS NULL) OR previous_expires_at NOT ${IS_TIME}`,
      'its old secret is the secret of a token':
        'EXISTS (SELECT 1 FROM tokens AS other WHERE other.hash = token.previous_hash)',
      'another token has the same old secret':
        'EXISTS (SELECT 1 FROM tokens AS other WHERE other.previous_hash = token.previous_hash AND other.id <> token.id)',
    }),
  })
}

/** A database with an older schema may lack it. */
function hasColumn(database: DatabaseSync, table: string, column: string): boolean {
  const sql = 'SELECT 1 FROM pragma_table_info(?) WHERE name = ?'
  return database.prepare(sql).get(table, column) !== undefined
}

function findKeys(database: DatabaseSync): string[] {
  return findRows(database, "SELECT 'an idempotency key of ' || caller AS row, * FROM idempotency_keys", {
    'its fingerprint is not a SHA-256 in hexadecimal digits':
      "length(fingerprint) <> 64 OR fingerprint GLOB '*[^0-9a-f]*'",
    'it is empty or too long': `length(key) NOT BETWEEN 1 AND ${KEY_CHARACTERS_MAX} OR caller = ''`,
    'the version of its plant is not an integer below 2^53': `plant_version NOT BETWEEN 0 AND ${Number.MAX_SAFE_INTEGER}`,
    'the time of creation is invalid': `created_at NOT ${IS_TIME}`,
  })
}

/**
 * The rows that meet a condition in `wrong`, each with the first one it meets; the query `rows` names them in `row`.
 */
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
