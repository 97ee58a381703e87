import assert from 'node:assert/strict'
import { cpSync, readdirSync, rmSync, statfsSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { temporaryFolder } from '../support/http/start-app.ts'
import { runPlantstore } from '../support/process/plantstore-process.ts'
import { startService } from '../support/process/service-process.ts'
import { MOUNTING_SKIP, mountSmallDisk } from '../support/small-disk.ts'

const KILL_AT_STEP = new URL('../support/process/kill-at-step.ts', import.meta.url).href
/** More than there are. */
const STEPS_MAX = 40

const keptIn = (folder: string) => readdirSync(folder).filter((name) => /before-restore-\w+$/.test(name))

/** What SQLite finds at a path, with the log beside it; the file is sound. */
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

/** A folder that a crash left: plant 1 in the file and its backup, plant 2 in the log alone. */
async function leaveCrashed(t: TestContext): Promise<string> {
  const folder = temporaryFolder(t)
  const database = join(folder, 'plants.db')
  const add = async (id: number) => {
    const service = await startService(t, { database })
    assert.equal((await service.request('POST', '/plants', { id, name: `Rosa ${id}` })).status, 200)
    return service
  }
  await (await add(1)).stop()
  assert.equal((await runPlantstore(t, ['backup', join(folder, 'one.db'), '--database', database])).code, 0)
  await (await add(2)).crash()
  assert.ok(statSync(`${database}-wal`).size > 0)
  return folder
}

/** Restores in copies of the folder, killed before each step in turn, and has each of them looked at. */
async function killAtEachStep(
  t: TestContext,
  folder: string,
  { hasLinks = true, check }: { hasLinks?: boolean; check(copy: string, isRestored: boolean): void },
): Promise<void> {
  const before = new Set<boolean>()
  let restoreAgain = async () => {}
  for (let step = 1; step < STEPS_MAX; step++) {
    const copy = temporaryFolder(t)
    cpSync(folder, copy, { recursive: true })
    const store = join(copy, 'plants.db')
    const { ino } = statSync(store)
    const restore = (environment: Record<string, string>) =>
      runPlantstore(t, ['restore', 'one.db', '--database', 'plants.db', '--force'], {
        folder: copy,
        environment,
      })
    const { code, stderr } = await restore({
      NODE_OPTIONS: `--import=${KILL_AT_STEP}`,
      KILL_AT_STEP: String(step),
      HAS_LINKS: String(hasLinks),
    })
    if (code === 0) {
      assert.deepEqual([...before], [false, true], 'it was killed before and after the store was replaced')
      return restoreAgain()
    }
    assert.equal(code, 'SIGKILL', stderr)
    const isRestored = statSync(store).ino !== ino
    before.add(isRestored)
    check(copy, isRestored)
    if (isRestored) continue
    // Once is enough: after the last step before the store is replaced.
    restoreAgain = async () => {
      assert.equal((await restore({})).code, 0)
      assert.deepEqual(idsIn(store), [1])
      assert.ok(!readdirSync(copy).some((name) => name.includes('partial')))
    }
  }
  assert.fail('it has no end')
}

/** One of the two stores is there, whole, and nothing of the old one is lost. */
function checkStores(copy: string, isRestored: boolean): void {
  assert.deepEqual(idsIn(join(copy, 'plants.db')), isRestored ? [1] : [1, 2])
  const kept = keptIn(copy)
  if (isRestored) assert.equal(kept.length, 1)
  for (const name of kept) assert.deepEqual(idsIn(join(copy, name)), [1, 2], name)
}

test('killed at any step of a restore, one of the two stores is there, whole, and the old one is not lost', async (t) => {
  await killAtEachStep(t, await leaveCrashed(t), { check: checkStores })
})

test('killed at any step on a file system without hard links, nothing is lost either', async (t) => {
  await killAtEachStep(t, await leaveCrashed(t), { hasLinks: false, check: checkStores })
})

test('killed while a store is replaced that cannot be read, neither it nor its log is lost', async (t) => {
  const folder = await leaveCrashed(t)
  writeFileSync(join(folder, 'plants.db'), Buffer.alloc(8192, 'x'))
  const logBytes = statSync(join(folder, 'plants.db-wal')).size
  await killAtEachStep(t, folder, {
    check(copy, isRestored) {
      if (isRestored) assert.deepEqual(idsIn(join(copy, 'plants.db')), [1])
      const logs = readdirSync(copy).filter((name) => name.endsWith('-wal'))
      assert.ok(logs.length > 0)
      for (const name of logs) assert.equal(statSync(join(copy, name)).size, logBytes)
      if (isRestored) assert.equal(keptIn(copy).length, 1)
    },
  })
})

test('where there is no room to put the log into the old store, both stay as they were', {
  skip: MOUNTING_SKIP,
}, async (t) => {
  const disk = mountSmallDisk(t)
  if (disk === undefined) return t.skip('a small file system cannot be mounted here')
  const database = join(disk, 'plants.db')
  const service = await startService(t, { database })
  const backup = join(temporaryFolder(t), 'one.db')
  assert.equal((await runPlantstore(t, ['backup', backup, '--database', database])).code, 0)
  // A mebibyte in the log, which the file of the store does not have yet.
  const add = (id: number) => service.request('POST', '/plants', { id, name: 'r'.repeat(3000) })
  const added = await Promise.all(Array.from({ length: 300 }, (_, id) => add(id)))
  assert.ok(added.every(({ status }) => status === 200))
  await service.crash()
  const before = readdirSync(disk).sort()
  // Room for the copy, and little more.
  const { bavail, bsize } = statfsSync(disk)
  const ballast = join(disk, 'ballast')
  writeFileSync(ballast, Buffer.alloc(bavail * bsize - 2 * statSync(backup).size))
  const restore = () => runPlantstore(t, ['restore', backup, '--database', database, '--force'])
  const { code, stderr } = await restore()
  assert.equal(code, 1)
  assert.match(stderr, /^plantstore: \S+plants\.db cannot be replaced: [^\n]+: the disk is full\.\n$/)
  rmSync(ballast)
  assert.deepEqual(readdirSync(disk).sort(), before)
  assert.equal(idsIn(database).length, 300)
  assert.equal((await restore()).code, 0)
  assert.equal(idsIn(database).length, 0)
})
