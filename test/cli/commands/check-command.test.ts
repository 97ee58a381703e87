import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { closeSync, openSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { openFile } from '../../storage/sqlite/temporary-storage.ts'
import { startApp, temporaryFolder } from '../../support/http/start-app.ts'
import { runCommand } from '../run-command.ts'

const PLANTS = 3_000
const PAGE_BYTES = 4096

/** A store with plants, the newest not indexed yet, and a token. */
async function makeStore(t: TestContext): Promise<string> {
  const database = join(temporaryFolder(t), 'plants.db')
  const storage = await openFile(t, database)
  const plants = Array.from({ length: PLANTS }, (_, at) => ({
    id: BigInt(at) - 100n,
    name: `Rosa canina ${randomBytes(8).toString('hex')}`,
    tag: `tag ${at % 5}`,
    createdAtMs: 1,
    updatedAtMs: 2,
    version: at,
  }))
  for (let at = 0; at < PLANTS; at += 500) await storage.dump.addPlants(plants.slice(at, at + 500))
  const token = { id: 'abc', label: 'l', scopes: ['plants:read' as const], createdAtMs: 1 }
  await storage.dump.addTokens([{ token, hash: 'a'.repeat(64) }])
  await storage.close()
  return database
}

/** Changes a store in ways that only a mistake or a broken disk would. */
function damage(path: string, ...statements: string[]): void {
  const database = new DatabaseSync(path)
  database.enableDefensive(false)
  // The service has indexed what waited, or not; here nothing does.
  for (const statement of statements) database.exec(statement)
  database.close()
}

const check = (t: TestContext, database: string) => runCommand(t, ['check', '--database', database])

test('a sound store is reported as sound, also while a service writes to it', async (t) => {
  const database = await makeStore(t)
  const app = await startApp(t, { PLANTSTORE_DATABASE: database })
  let isOver = false
  const load = (async () => {
    for (let id = 10_000; !isOver; id++) {
      await app.send('POST', '/plants', JSON.stringify({ id, name: `Rosa ${id}` }))
      if (id % 3 === 0) await app.fetch(`/plants/${id}`, { method: 'DELETE' })
    }
  })()
  for (let run = 0; run < 3; run++) {
    const { code, stdout, stderr } = await check(t, database)
    assert.deepEqual([code, stdout, stderr], [0, '', `${database} is sound.\n`])
  }
  isOver = true
  await load
})

test('changed bytes of a page are found', async (t) => {
  const database = await makeStore(t)
  const reader = new DatabaseSync(database, { readOnly: true })
  const { page } = reader
    .prepare("SELECT rootpage AS page FROM sqlite_schema WHERE name = 'plants_by_tag'")
    .get() as {
    page: number
  }
  reader.close()
  const file = openSync(database, 'r+')
  writeSync(file, randomBytes(200), 0, 200, (page - 1) * PAGE_BYTES)
  closeSync(file)
  const { code, stdout, stderr } = await check(t, database)
  assert.equal(code, 1)
  assert.match(stdout, /\S/)
  assert.match(stderr, /^plantstore: \S+ is damaged: restore a backup \([^\n]+\n$/)
})

test('a plant missing from an index is found', async (t) => {
  const database = await makeStore(t)
  damage(
    database,
    `CREATE TABLE kept AS SELECT * FROM sqlite_schema WHERE name = 'plants_by_tag';
     PRAGMA writable_schema = ON;
     DELETE FROM sqlite_schema WHERE name = 'plants_by_tag'`,
  )
  damage(database, "INSERT INTO plants VALUES (-7000, 'Rosa', 'lost', 1, 1, 1)")
  damage(
    database,
    'PRAGMA writable_schema = ON; INSERT INTO sqlite_schema SELECT * FROM kept; DROP TABLE kept',
  )
  const { code, stdout } = await check(t, database)
  assert.equal(code, 1)
  assert.match(stdout, /row \d+ missing from index plants_by_tag/)
  assert.match(stdout, /^tags: 3001 plants have one, and the index of tags has 3000$/m)
})

test('a plant missing from the search index is found, and an indexed plant that does not exist', async (t) => {
  const database = await makeStore(t)
  const app = await startApp(t, { PLANTSTORE_DATABASE: database })
  await app.stop()
  damage(
    database,
    'DELETE FROM unindexed_batches',
    `INSERT OR IGNORE INTO plant_words (rowid, words) SELECT id, 'rosa' FROM plants
       WHERE NOT EXISTS (SELECT 1 FROM plant_words_docsize AS words WHERE words.id = plants.id)`,
    'DELETE FROM plant_words WHERE rowid = 77',
    'DELETE FROM plants WHERE id = 78',
  )
  const { code, stdout } = await check(t, database)
  assert.equal(code, 1)
  assert.equal(
    stdout,
    'id 77 is neither in the search index nor queued for it\nid 78 is in the search index but is not a plant\n',
  )
})

test('values that the service never writes are found, each with its row', async (t) => {
  const database = await makeStore(t)
  damage(
    database,
    'UPDATE plants SET updated_at = 0 WHERE id = 5',
    'UPDATE plants SET version = -1 WHERE id = 6',
    "UPDATE tokens SET hash = upper(hash) WHERE id = 'abc'",
    `INSERT INTO tokens (id, hash, label, scopes, created_at, expires_at, last_used_at) VALUES ('def', '${'b'.repeat(64)}', 'l', 'plants:eat', 1, NULL, NULL)`,
    `INSERT INTO tokens (id, hash, label, scopes, created_at, expires_at, last_used_at) VALUES ('ghi', '${'c'.repeat(64)}', 'l', 'plants:read', 1, 9e15, NULL)`,
    "INSERT INTO idempotency_keys VALUES ('abc', 'key', 'none', 1, 1)",
  )
  const { code, stdout } = await check(t, database)
  assert.equal(code, 1)
  assert.deepEqual(stdout.trimEnd().split('\n'), [
    'plant 5: the time of the last write is invalid, or before the creation',
    'plant 6: the version is not an integer below 2^53',
    'token abc: its hash is not a SHA-256 in hexadecimal digits',
    'token def: it has an unknown scope',
    'token ghi: the time of expiry is invalid',
    'an idempotency key of abc: its fingerprint is not a SHA-256 in hexadecimal digits',
  ])
})

test('old secrets of tokens and idempotency keys are checked, also in an older schema', async (t) => {
  const database = await makeStore(t)
  const token = (id: string, hash: string, previous: string, untilMs: string) =>
    `INSERT INTO tokens (id, hash, label, scopes, created_at, previous_hash, previous_expires_at)
       VALUES ('${id}', '${hash.repeat(64)}', 'l', 'plants:read', 1, ${previous}, ${untilMs})`
  const key = (caller: string, text: string, version: string) =>
    `INSERT INTO idempotency_keys VALUES ('${caller}', '${text}', '${'a'.repeat(64)}', ${version}, 1)`
  damage(database, token('ok', 'b', `'${'c'.repeat(64)}'`, '5'), key('abc', 'k', '0'))
  assert.equal((await check(t, database)).stdout, '')
  damage(
    database,
    token('short', 'd', "'abc'", '5'),
    token('timeless', 'e', `'${'f'.repeat(64)}'`, 'NULL'),
    token('twice', '1', `'${'a'.repeat(64)}'`, '5'),
    key('abc', '', '0'),
    key('def', 'k', '-1'),
  )
  const { code, stdout } = await check(t, database)
  assert.equal(code, 1)
  assert.deepEqual(stdout.trimEnd().split('\n').sort(), [
    'an idempotency key of abc: it is empty or too long',
    'an idempotency key of def: the version of its plant is not an integer below 2^53',
    'token short: the hash of its old secret is not a SHA-256 in hexadecimal digits',
    'token timeless: its old secret has an invalid end of its grace period',
    'token twice: its old secret is the secret of a token',
  ])
  damage(
    database,
    'DELETE FROM tokens',
    'DELETE FROM idempotency_keys',
    'DROP INDEX tokens_by_previous_hash',
    'ALTER TABLE tokens DROP COLUMN previous_hash',
    'ALTER TABLE tokens DROP COLUMN previous_expires_at',
    'DELETE FROM migrations WHERE version = 4',
  )
  const older = await check(t, database)
  assert.deepEqual([older.code, older.stdout], [0, ''])
})

test('a store or a backup can be an argument', async (t) => {
  const database = await makeStore(t)
  const named = await runCommand(t, ['check', database])
  assert.deepEqual([named.code, named.stderr], [0, `${database} is sound.\n`])
  const both = await runCommand(t, ['check', database, '--database', database])
  assert.deepEqual([both.code, both.stdout], [2, ''])
  assert.match(both.stderr, /^plantstore: [^\n]*not both\.\n$/)
})

test('a file that is not a store is reported in one line', async (t) => {
  const folder = temporaryFolder(t)
  writeFileSync(join(folder, 'text'), 'no database, and longer than the header of one'.repeat(30))
  for (const [database, message] of [
    [join(folder, 'nothing.db'), /There is no database at/],
    [folder, /There is no database at/],
    [join(folder, 'text'), /is not a Plant Store/],
    ['postgres://me@host/plants', /PostgreSQL database\. Check it with pg_amcheck/],
  ] as const) {
    const { code, stdout, stderr } = await check(t, database)
    assert.deepEqual([code, stdout], [1, ''])
    assert.match(stderr, /^plantstore: [^\n]*\n$/)
    assert.match(stderr, message)
  }
})

test('an empty file is reported as empty', async (t) => {
  const database = join(temporaryFolder(t), 'empty.db')
  writeFileSync(database, '')
  const { code, stderr } = await check(t, database)
  assert.equal(code, 1)
  assert.match(stderr, /is not a Plant Store: it is empty\.\n$/)
})
