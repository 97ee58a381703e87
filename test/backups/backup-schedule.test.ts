import assert from 'node:assert/strict'
import { copyFileSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { test } from 'node:test'
import { createBackupSchedule } from '../../src/backups/backup-schedule.ts'
import { eventually } from '../support/eventually.ts'
import { runPlantstore } from '../support/process/plantstore-process.ts'
import { startApp, temporaryFolder } from '../support/http/start-app.ts'

const NAME = /^plantstore-\d{8}T\d{9}Z\.db$/
const backupsIn = (folder: string) => readdirSync(folder).filter((name) => NAME.test(name))
const nameAt = (timeMs: number) => `plantstore-${new Date(timeMs).toISOString().replace(/[-:.]/g, '')}.db`

test('a service backs up by itself, retains the newest backups, and touches nothing else in the folder', async (t) => {
  const folder = join(temporaryFolder(t), 'backups')
  mkdirSync(folder)
  const foreign = ['notes.txt', 'plantstore-old.db', 'plantstore-20200101.db', 'other.db.1.partial']
  for (const name of foreign) writeFileSync(join(folder, name), 'precious')
  const old = nameAt(Date.UTC(2020, 0, 1))
  writeFileSync(join(folder, old), 'an old one')
  // A partial file of this process id, as in a restarted container.
  writeFileSync(join(folder, `${old}.${process.pid}.partial`), 'half a one')
  const app = await startApp(t, {
    PLANTSTORE_BACKUP_DIR: folder,
    PLANTSTORE_BACKUP_INTERVAL_MS: '1000',
    PLANTSTORE_BACKUPS_KEPT: '2',
  })
  await app.send('POST', '/plants', '{"id":1,"name":"Rosa canina"}')
  const made = () => app.log.filter(({ msg }) => msg === 'backed up')
  await eventually(() => made().length >= 3, 20_000)
  await app.stop()
  const retained = backupsIn(folder)
  assert.equal(retained.length, 2)
  assert.ok(!retained.includes(old))
  assert.deepEqual(readdirSync(folder).sort(), [...foreign, ...retained].sort())
  assert.equal(made().at(-1)?.plants, 1)
  const check = await runPlantstore(t, ['check', '--database', join(folder, retained[1] ?? '')])
  assert.equal(check.code, 0, check.stderr)
})

test('a failure is logged with what to do, and the backup is retried', async (t) => {
  const folder = join(temporaryFolder(t), 'backups')
  const app = await startApp(t, { PLANTSTORE_BACKUP_DIR: folder, PLANTSTORE_BACKUP_INTERVAL_MS: '1000' })
  await eventually(() => backupsIn(folder).length > 0, 20_000)
  rmSync(folder, { recursive: true })
  writeFileSync(folder, 'a file where the folder was')
  const failure = await eventually(() => app.log.find(({ level }) => level === 50), 20_000)
  assert.match(String(failure.msg), /^no backup was made: check that the folder is writable/)
  assert.equal((await app.fetch('/plants')).status, 200)
  rmSync(folder)
  mkdirSync(folder)
  await eventually(() => backupsIn(folder).length > 0, 20_000)
})

test('while the database files are moved no backup is created or removed, and the log says why', async (t) => {
  const folder = join(temporaryFolder(t), 'backups')
  const app = await startApp(t, {
    PLANTSTORE_BACKUP_DIR: folder,
    PLANTSTORE_BACKUP_INTERVAL_MS: '1000',
    PLANTSTORE_BACKUPS_KEPT: '2',
  })
  await eventually(() => backupsIn(folder).length === 2, 20_000)
  renameSync(app.database, `${app.database}.moved`)
  copyFileSync(join(folder, backupsIn(folder)[0] ?? ''), app.database)
  const logged = () => app.log.filter(({ msg }) => /^no backup was made: the files .* were moved/.test(String(msg)))
  await eventually(() => logged().length > 0, 20_000)
  const retained = backupsIn(folder)
  await eventually(() => logged().length > 2, 20_000)
  assert.deepEqual(backupsIn(folder), retained)
  renameSync(`${app.database}.moved`, app.database)
  await eventually(() => backupsIn(folder).join() !== retained.join(), 20_000)
})

test('an old backup that cannot be removed keeps no other one, and is not reported as a failed backup', async (t) => {
  const folder = temporaryFolder(t)
  const [stuck = '', old = ''] = [2020, 2021].map((year) => nameAt(Date.UTC(year, 0, 1)))
  // A folder, so removing it as a file fails.
  mkdirSync(join(folder, stuck))
  writeFileSync(join(folder, old), 'an old one')
  const app = await startApp(t, { PLANTSTORE_BACKUP_DIR: folder, PLANTSTORE_BACKUPS_KEPT: '1' })
  const line = await eventually(() => app.log.find(({ level }) => level === 50), 20_000)
  assert.match(String(line.msg), /^old backups cannot be removed/)
  const retained = backupsIn(folder)
  assert.deepEqual([retained.length, retained.includes(stuck), retained.includes(old)], [2, true, false])
  assert.equal(app.log.filter(({ msg }) => msg === 'backed up').length, 1)
})

test('a service that stops aborts its backup, and leaves no partial file', async (t) => {
  const folder = join(temporaryFolder(t), 'backups')
  const app = await startApp(t, { PLANTSTORE_BACKUP_DIR: folder })
  await eventually(() => readdirSync(folder).some((name) => name.endsWith('.partial')))
  await app.stop()
  assert.deepEqual(
    readdirSync(folder).filter((name) => !NAME.test(name)),
    [],
  )
  assert.deepEqual(
    app.log.filter(({ level }) => level === 50),
    [],
  )
})

test('the next backup is due when the newest one is as old as the interval, one at a time', async (t) => {
  const folder = temporaryFolder(t)
  const newestMs = Date.now()
  writeFileSync(join(folder, nameAt(newestMs)), 'a new one')
  // A backup from before the clock was set back.
  writeFileSync(join(folder, nameAt(Date.now() + 3_600_000)), 'one from the future')
  let running = 0
  let runs = 0
  const schedule = createBackupSchedule({
    folder,
    intervalMs: 200,
    retained: 10,
    async backUp(file) {
      assert.ok(++running === 1, 'one at a time')
      if (runs++ === 0) assert.ok(Date.now() - newestMs >= 200, 'the newest one was new enough')
      await new Promise((resolve) => setTimeout(resolve, 300))
      writeFileSync(file, 'one')
      running--
    },
    removeLeftovers: () => undefined,
    onFailure: (error) => assert.fail(String(error)),
    onNotRemoved: (error) => assert.fail(String(error)),
  })
  schedule.start(() => false)
  await eventually(() => runs === 3, 10_000)
  await schedule.stop()
  assert.equal(running, 0)
})

test('after the clock was set back, backups are created at the interval, and none is lost', async (t) => {
  const folder = temporaryFolder(t)
  const future = [1, 2].map((hours) => nameAt(Date.now() + hours * 3_600_000))
  for (const name of future) writeFileSync(join(folder, name), 'created before the clock was set back')
  const made: string[] = []
  const schedule = createBackupSchedule({
    folder,
    intervalMs: 300,
    retained: 1,
    async backUp(file) {
      made.push(basename(file))
      writeFileSync(file, 'one')
    },
    removeLeftovers: () => undefined,
    onFailure: (error) => assert.fail(String(error)),
    onNotRemoved: (error) => assert.fail(String(error)),
  })
  assert.equal(schedule.newestMs(), undefined)
  const startMs = Date.now()
  schedule.start(() => false)
  await eventually(() => made.length >= 3, 10_000)
  await schedule.stop()
  assert.ok(Date.now() - startMs >= 590, 'one for each interval')
  const last = made.at(-1) ?? ''
  assert.deepEqual(backupsIn(folder).sort(), [last, ...future])
  assert.equal(nameAt(schedule.newestMs() ?? 0), last)
})

test('a service does not start if the folder of backups is not writable or the database is a server', async (t) => {
  const folder = temporaryFolder(t)
  writeFileSync(join(folder, 'file'), '')
  const database = join(folder, 'plants.db')
  for (const [settings, message, expected] of [
    [
      { PLANTSTORE_DATABASE: database, PLANTSTORE_BACKUP_DIR: join(folder, 'file', 'backups') },
      /Backups cannot be written to \S+: part of its path is not a folder\.$/m,
      1,
    ],
    [
      { PLANTSTORE_DATABASE: 'postgres://me@host/plants', PLANTSTORE_BACKUP_DIR: folder },
      /^plantstore: PLANTSTORE_BACKUP_DIR needs a SQLite file\. .*Back it up with pg_dump/,
      2,
    ],
  ] as const) {
    const { code, stderr } = await runPlantstore(t, ['serve'], { environment: settings })
    assert.equal(code, expected)
    assert.match(stderr, message)
    assert.match(stderr, /^[^\n]*\n$/)
  }
  assert.ok(!existsSync(database))
})
