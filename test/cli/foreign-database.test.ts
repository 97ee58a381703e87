import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { SetupError } from '../../src/errors.ts'
import { runMaintenance } from '../../src/storage/sqlite/file/maintenance.ts'
import { startStore } from './start-store.ts'

/** A backup `one.db` that was changed by these statements, and the commands of its folder. */
async function startChanged(t: TestContext, ...statements: string[]) {
  const store = await startStore(t)
  assert.equal((await store.run(['backup', 'one.db', '--database', 'plants.db'])).code, 0)
  using database = new DatabaseSync(store.at('one.db'), { defensive: false })
  for (const statement of statements) database.exec(statement)
  return store
}

const ENDLESS = 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)'

test('a trigger, a view, a table and an index of another program are found, and such a file is not restored', async (t) => {
  for (const [statement, finding] of [
    [
      'CREATE TRIGGER spy AFTER INSERT ON plants BEGIN DELETE FROM tokens; END',
      'the trigger spy does not belong to a Plant Store',
    ],
    ['CREATE VIEW looks AS SELECT * FROM plants', 'the view looks does not belong to a Plant Store'],
    ['CREATE TABLE more (x)', 'the table more does not belong to a Plant Store'],
    ['CREATE INDEX by_name ON plants (name)', 'the index by_name does not belong to a Plant Store'],
    ['DROP INDEX plants_by_tag', 'the index plants_by_tag is missing'],
    ['ALTER TABLE plants ADD COLUMN height REAL', 'the table plants is defined differently in a Plant Store'],
  ] as const) {
    const { run, at } = await startChanged(t, statement)
    const checked = await run(['check', 'one.db'])
    assert.deepEqual([checked.code, checked.stdout], [1, `${finding}\n`])
    const restored = await run(['restore', 'one.db', '--database', 'new.db'])
    assert.equal(restored.code, 1)
    assert.match(restored.stderr, new RegExp(`^plantstore: \\S*one\\.db cannot be trusted: ${finding}\\. `))
    assert.throws(() => new DatabaseSync(at('new.db'), { readOnly: true }))
  }
})

test('a view without an end in place of a table is not run', async (t) => {
  for (const [statements, finding] of [
    [
      [
        'DROP TABLE plants',
        `CREATE VIEW plants AS ${ENDLESS} SELECT i AS id, 'a' AS name, NULL AS tag, 1 AS created_at, 1 AS updated_at, 1 AS version FROM n`,
      ],
      /^the table plants is missing$/m,
    ],
    [
      [
        'DROP TABLE migrations',
        `CREATE VIEW migrations AS ${ENDLESS} SELECT i AS version, '0001-plants' AS name, '' AS applied_at FROM n`,
      ],
      /is not a Plant Store/,
    ],
  ] as const) {
    const { run } = await startChanged(t, ...statements)
    const checked = await run(['check', 'one.db'])
    assert.equal(checked.code, 1)
    assert.match(checked.stdout + checked.stderr, finding)
    assert.equal((await run(['restore', 'one.db', '--database', 'new.db'])).code, 1)
  }
})

test('statistics of ANALYZE are no fault', async (t) => {
  const { run } = await startChanged(t, 'ANALYZE')
  assert.equal((await run(['check', 'one.db'])).code, 0)
  assert.equal((await run(['restore', 'one.db', '--database', 'new.db'])).code, 0)
})

test('a check that takes too long ends with the reason', async (t) => {
  const { at } = await startStore(t)
  const options = { signal: new AbortController().signal, onProgress() {}, timeMaxMs: 1 }
  await assert.rejects(runMaintenance({ kind: 'check', path: at('plants.db') }, options), (error) => {
    assert.ok(error instanceof SetupError)
    assert.match(error.message, /took longer than 1 ms/)
    return true
  })
})

test('times without a date and texts that are not UTF-8 are found, and plants and tokens can be read all the same', async (t) => {
  const { app, at, run } = await startStore(t)
  const created = await app.send('POST', '/tokens', '{"label":"l","scopes":["plants:read"]}')
  assert.equal(created.status, 201)
  {
    using database = new DatabaseSync(at('plants.db'), { timeout: 5_000 })
    database.exec(`
      INSERT INTO plants VALUES
        (2, 'a', NULL, 9223372036854775807, 9223372036854775807, 1),
        (3, 'b', NULL, -9223372036854775807, 5, 1),
        (4, 'c', NULL, 253402300800000, 253402300800000, 1),
        (5, CAST(x'52c373' AS TEXT), NULL, 1, 1, 1);
      UPDATE tokens SET expires_at = 9223372036854775807, last_used_at = -9223372036854775808`)
  }
  const { code, stdout } = await run(['check', 'plants.db'])
  assert.equal(code, 1)
  for (const line of [
    'plant 2: the time of creation is invalid',
    'plant 3: the time of creation is invalid',
    'plant 4: the time of creation is invalid',
    'plant 5: the name is not UTF-8 without U+0000',
  ]) {
    assert.ok(stdout.includes(`${line}\n`), `${line} in ${stdout}`)
  }
  assert.match(stdout, /^token \S+: the time of expiry is invalid$/m)

  const last = '9999-12-31T23:59:59.999Z'
  const plants = (await (await app.fetch('/plants')).json()) as { id: number; createdAt: string }[]
  assert.deepEqual(plants.map(({ id, createdAt }) => [id, createdAt]).slice(1), [
    [2, last],
    [3, '0000-01-01T00:00:00.000Z'],
    [4, last],
    [5, '1970-01-01T00:00:00.001Z'],
  ])
  for (const path of ['/plants/2', '/plants?q=a', '/tags', '/additions', '/tokens']) {
    assert.equal((await app.fetch(path)).status, 200, path)
  }
  const exported = await app.fetch('/plants', { headers: { accept: 'text/csv' } })
  assert.match(await exported.text(), new RegExp(`^2,a,,${last},${last}\r?$`, 'm'))
  assert.equal((await app.send('PATCH', '/plants/2', '{"name":"d"}')).status, 200)
  const { token } = (await created.json()) as { token: string }
  assert.equal((await app.fetch('/plants/1', { headers: { authorization: `Bearer ${token}` } })).status, 200)
})
