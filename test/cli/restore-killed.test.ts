import assert from 'node:assert/strict'
import { readdirSync, rmSync, statfsSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { startApp, temporaryFolder } from '../support/http/start-app.ts'
import { runPlantstore } from '../support/process/plantstore-process.ts'
import { startService } from '../support/process/service-process.ts'
import { MOUNTING_SKIP, mountSmallDisk } from '../support/small-disk.ts'
import { runCommand } from './run-command.ts'

const COPY_AT_EACH_STEP = new URL('../support/process/copy-at-each-step.ts', import.meta.url).href

const retainedIn = (folder: string) => readdirSync(folder).filter((name) => /before-restore-\w+$/.test(name))

/** The plants that SQLite reads at a path, with the log beside it. The file must be sound. */
function idsIn(path: string): number[] {
  const database = new DatabaseSync(path)
  try {
    assert.deepEqual({ ...database.prepare('PRAGMA quick_check').get() }, { quick_check: 'ok' })
    return database
      .prepare('SELECT id FROM plants ORDER BY id')
      .all()
      .map(({ id }) => Number(id))
  } finally {
    database.close()
  }
}

/** A folder after a crash: plant 1 in the file and its backup, plant 2 in the log only. */
async function leaveCrashed(t: TestContext): Promise<string> {
  const folder = temporaryFolder(t)
  const database = join(folder, 'plants.db')
  const app = await startApp(t, { PLANTSTORE_DATABASE: database })
  assert.equal((await app.send('POST', '/plants', '{"id":1,"name":"Rosa 1"}')).status, 200)
  await app.stop()
  assert.equal((await runCommand(t, ['backup', join(folder, 'one.db'), '--database', database])).code, 0)
  const service = await startService(t, { database })
  assert.equal((await service.request('POST', '/plants', { id: 2, name: 'Rosa 2' })).status, 200)
  await service.crash()
  assert.ok(statSync(`${database}-wal`).size > 0)
  return folder
}

/**
 * Restores in the folder, and checks each state that a kill could leave: a copy of the folder before each change of
 * the file system.
 */
async function checkEachStep(
  t: TestContext,
  folder: string,
  { hasLinks = true, check }: { hasLinks?: boolean; check(copy: string, isRestored: boolean): void },
): Promise<void> {
  const copies = temporaryFolder(t)
  const { ino } = statSync(join(folder, 'plants.db'))
  const restoreIn = (place: string, environment: Record<string, string> = {}) =>
    runPlantstore(t, ['restore', 'one.db', '--database', 'plants.db', '--force'], {
      folder: place,
      environment,
    })
  const { code, stderr } = await restoreIn(folder, {
    NODE_OPTIONS: `--import=${COPY_AT_EACH_STEP}`,
    COPIES_FOLDER: copies,
    HAS_LINKS: String(hasLinks),
  })
  assert.equal(code, 0, stderr)
  const steps = readdirSync(copies)
    .map((name) => /^(\d+)-(\d+)$/.exec(name) ?? assert.fail(name))
    .sort(([, one], [, other]) => Number(one) - Number(other))
    .map(([name, , inode]) => ({ copy: join(copies, name), isRestored: Number(inode) !== ino }))
  for (const { copy, isRestored } of steps) check(copy, isRestored)
  const last = steps.findLast(({ isRestored }) => !isRestored)
  assert.ok(
    last !== undefined && last !== steps.at(-1),
    'there are steps before and after the store is replaced',
  )
  // Once is enough: after the last step before the store is replaced.
  assert.equal((await restoreIn(last.copy)).code, 0)
  assert.deepEqual(idsIn(join(last.copy, 'plants.db')), [1])
  assert.ok(!readdirSync(last.copy).some((name) => name.includes('partial')))
}

/** One of the two stores is complete, and nothing of the old one is lost. */
function checkStores(copy: string, isRestored: boolean): void {
  assert.deepEqual(idsIn(join(copy, 'plants.db')), isRestored ? [1] : [1, 2])
  const kept = retainedIn(copy)
  if (isRestored) assert.equal(kept.length, 1)
  for (const name of kept) assert.deepEqual(idsIn(join(copy, name)), [1, 2], name)
}

test('a restore killed at any step leaves one complete store, and loses nothing of the old one', async (t) => {
  await checkEachStep(t, await leaveCrashed(t), { check: checkStores })
})

test('a restore killed at any step loses nothing on a file system without hard links either', async (t) => {
  await checkEachStep(t, await leaveCrashed(t), { hasLinks: false, check: checkStores })
})

test('a restore killed while it replaces an unreadable store loses neither it nor its log', async (t) => {
  const folder = await leaveCrashed(t)
  writeFileSync(join(folder, 'plants.db'), Buffer.alloc(8192, 'x'))
  const logBytes = statSync(join(folder, 'plants.db-wal')).size
  await checkEachStep(t, folder, {
    check(copy, isRestored) {
      if (isRestored) assert.deepEqual(idsIn(join(copy, 'plants.db')), [1])
      const logs = readdirSync(copy).filter((name) => name.endsWith('-wal'))
      assert.ok(logs.length > 0)
      for (const name of logs) assert.equal(statSync(join(copy, name)).size, logBytes)
      if (isRestored) assert.equal(retainedIn(copy).length, 1)
    },
  })
})

test('without disk space to checkpoint the log of the old store, both are unchanged', {
  skip: MOUNTING_SKIP,
}, async (t) => {
  const disk = mountSmallDisk(t)
  if (disk === undefined) return t.skip('a small file system cannot be mounted here')
  const database = join(disk, 'plants.db')
  const service = await startService(t, { database })
  const backup = join(temporaryFolder(t), 'one.db')
  assert.equal((await runCommand(t, ['backup', backup, '--database', database])).code, 0)
  // A mebibyte in the log that is not in the file yet.
  const add = (id: number) => service.request('POST', '/plants', { id, name: 'r'.repeat(3000) })
  const added = await Promise.all(Array.from({ length: 300 }, (_, id) => add(id)))
  assert.ok(added.every(({ status }) => status === 200))
  await service.crash()
  const before = readdirSync(disk).sort()
  // Room for the copy, and little more.
  const { bavail, bsize } = statfsSync(disk)
  const ballast = join(disk, 'ballast')
  writeFileSync(ballast, Buffer.alloc(bavail * bsize - 2 * statSync(backup).size))
  const restore = () => runCommand(t, ['restore', backup, '--database', database, '--force'])
  const { code, stderr } = await restore()
  assert.equal(code, 1)
  assert.match(stderr, /^plantstore: \S+plants\.db cannot be replaced: [^\n]+: the disk is full\.\n$/)
  rmSync(ballast)
  assert.deepEqual(readdirSync(disk).sort(), before)
  assert.equal(idsIn(database).length, 300)
  assert.equal((await restore()).code, 0)
  assert.equal(idsIn(database).length, 0)
})
