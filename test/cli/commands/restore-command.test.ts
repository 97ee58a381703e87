import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { temporaryFolder } from '../../support/http/start-app.ts'
import { type ServiceProcess, startService } from '../../support/process/service-process.ts'
import { runCommand } from '../run-command.ts'

const add = async (service: ServiceProcess, id: number) =>
  assert.equal(
    (await service.request('POST', '/plants', { id, name: `Rosa ${id}`, tag: 'rose' })).status,
    200,
  )

async function idsIn(service: ServiceProcess): Promise<number[]> {
  const { body } = await service.request('GET', '/plants')
  return (body as { id: number }[]).map(({ id }) => id)
}

/** A running service whose plant 1 is in the backup, and plant 2 is not. */
async function startBackedUp(t: TestContext) {
  const folder = temporaryFolder(t)
  const database = join(folder, 'plants.db')
  const service = await startService(t, { database })
  await add(service, 1)
  const backup = join(folder, 'backup.db')
  assert.equal((await runCommand(t, ['backup', backup, '--database', database])).code, 0)
  await add(service, 2)
  const restore = (file: string, ...flags: string[]) =>
    runCommand(t, ['restore', file, '--database', database, ...flags])
  return { folder, database, service, backup, restore }
}

test('restore is rejected while a service runs on the store, even an idle one', async (t) => {
  const { service, backup, restore, folder } = await startBackedUp(t)
  for (const flags of [[], ['--force']]) {
    const { code, stderr } = await restore(backup, ...flags)
    assert.equal(code, 1)
    assert.match(stderr, /^plantstore: \S+plants\.db is in use: stop the service first, then try again\.\n$/)
  }
  await add(service, 3)
  assert.deepEqual(await idsIn(service), [1, 2, 3])
  assert.equal(await service.stop(), 0)
  assert.deepEqual(readdirSync(folder).sort(), ['backup.db', 'plants.db'])
})

test('restore does not replace a store without --force', async (t) => {
  const { service, backup, restore, database } = await startBackedUp(t)
  await service.stop()
  const { code, stderr } = await restore(backup)
  assert.equal(code, 1)
  assert.match(stderr, /^plantstore: There is a database at \S+plants\.db: [^\n]*--force[^\n]*\n$/)
  assert.deepEqual(await idsIn(await startService(t, { database })), [1, 2])
})

test('after a crash the log of the old store does not affect the restored one; the old one is retained complete', async (t) => {
  const { folder, service, backup, restore, database } = await startBackedUp(t)
  await service.crash()
  assert.ok(existsSync(`${database}-wal`), 'the crash left a log')
  const { code, stderr } = await restore(backup, '--force')
  assert.equal(code, 0, stderr)
  assert.match(stderr, /^1 plant in \S+, verified\.\nThe previous store is \S+before-restore-\w+: /)
  const aside = readdirSync(folder).find((name) => name.includes('before-restore')) ?? ''
  assert.deepEqual(readdirSync(folder).sort(), ['backup.db', 'plants.db', aside])

  const environment = { PLANTSTORE_CHECK_ON_START: 'true' }
  const restored = await startService(t, { database, environment })
  assert.deepEqual(await idsIn(restored), [1])
  await add(restored, 4)
  const kept = await startService(t, { database: join(folder, aside), environment })
  assert.deepEqual(await idsIn(kept), [1, 2])
})

test('a store that cannot be read is replaced, and retained with its log', async (t) => {
  const { folder, service, backup, restore, database } = await startBackedUp(t)
  await service.crash()
  writeFileSync(database, Buffer.alloc(8192, 'x'))
  const log = readFileSync(`${database}-wal`)
  const { code, stderr } = await restore(backup, '--force')
  assert.equal(code, 0, stderr)
  const aside = readdirSync(folder)
    .filter((name) => name.includes('before-restore'))
    .sort()
  assert.equal(aside.length, 2, aside.join())
  assert.deepEqual(readFileSync(join(folder, aside[1] ?? '')), log)
  assert.deepEqual(await idsIn(await startService(t, { database })), [1])
})

test('a log without its store does not affect the restored one either', async (t) => {
  const { folder, service, backup, restore, database } = await startBackedUp(t)
  await service.crash()
  const log = readFileSync(`${database}-wal`)
  const elsewhere = join(folder, 'elsewhere.db')
  writeFileSync(`${elsewhere}-wal`, log)
  const { code } = await runCommand(t, ['restore', backup, '--database', elsewhere])
  assert.equal(code, 0)
  assert.deepEqual(await idsIn(await startService(t, { database: elsewhere })), [1])
  assert.equal((await restore(elsewhere, '--force')).code, 0, 'a store that is in use is a backup as well')
})

test('only a sound store with a known schema is restored', async (t) => {
  const { folder, service, backup, restore } = await startBackedUp(t)
  await service.stop()
  const path = (name: string) => join(folder, name)
  mkdirSync(path('folder'))
  writeFileSync(path('text'), 'no database, and longer than the header of one'.repeat(30))
  writeFileSync(path('empty'), '')
  const other = new DatabaseSync(path('other'))
  other.exec('CREATE TABLE migrations (id, run_on); CREATE TABLE plants (id)')
  other.close()
  writeFileSync(path('newer'), readFileSync(backup))
  const newer = new DatabaseSync(path('newer'))
  newer.exec("INSERT INTO migrations VALUES (9999, '9999-later', 'now')")
  newer.close()
  const bytes = readFileSync(backup)
  // The second page, where the tables begin. The first one has the schema.
  writeFileSync(path('damaged'), bytes.fill(0xff, 4096, 3 * 4096))
  const before = readdirSync(folder).sort()
  for (const [name, message] of [
    ['nothing', /There is no backup/],
    ['folder', /There is no backup/],
    ['text', /is not a Plant Store/],
    ['empty', /is not a Plant Store/],
    ['other', /is not a Plant Store/],
    ['newer', /schema version 9999, this program supports \d+: use the newer program/],
    ['damaged', /malformed|damaged/],
    ['plants.db', /is the database itself/],
  ] as const) {
    const { code, stderr } = await restore(path(name), '--force')
    assert.equal(code, 1, name)
    assert.match(stderr, /^plantstore: [^\n]*\n$/)
    assert.match(stderr, message)
  }
  assert.deepEqual(readdirSync(folder).sort(), before)
})

test('a PostgreSQL database is not restored: it has its own tools', async (t) => {
  const { code, stderr } = await runCommand(t, ['restore', 'a.db', '--database', 'postgres://me@host/plants'])
  assert.equal(code, 1)
  assert.match(stderr, /PostgreSQL database\. Restore it with pg_restore/)
})
