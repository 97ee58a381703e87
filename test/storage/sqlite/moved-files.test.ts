import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { eventually } from '../../support/eventually.ts'
import { type StartedApp, startApp, temporaryFolder } from '../../support/http/start-app.ts'
import { startService } from '../../support/process/service-process.ts'
import { openFile } from './temporary-storage.ts'

/** A service with a plant in a database of its own, and the names of its files. */
async function startStore(t: TestContext) {
  const folder = temporaryFolder(t)
  const database = join(folder, 'plants.db')
  const app = await startApp(t, { PLANTSTORE_DATABASE: database })
  assert.equal((await create(app, 1)).status, 200)
  const files = () => readdirSync(folder).filter((name) => name.startsWith('plants.db'))
  return { folder, database, app, files }
}

async function create(app: StartedApp, id: number) {
  const response = await app.send('POST', '/plants', JSON.stringify({ id, name: 'Rosa' }))
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}

async function readiness(app: StartedApp) {
  const response = await app.fetch('/readyz')
  const { writes, reason } = (await response.json()) as Record<string, unknown>
  return { status: response.status, writes, reason }
}

const MOVED = { status: 200, writes: 'failing', reason: 'database-moved' }
const WORKING = { status: 200, writes: 'working', reason: undefined }

const linesAbout = (app: StartedApp) => app.log.filter(({ trouble }) => trouble !== undefined)

/** Asserts that writes are rejected and reported, and reads are not. `firstId` is that of the first write. */
async function assertMoved(app: StartedApp, firstId = 2): Promise<void> {
  // Either notices first: a commit, which is done by then, or the check once a second.
  const { status, body } = await create(app, firstId)
  assert.equal(status, 503)
  assert.equal(body.error, 50302)
  assert.ok(['unknown', 'none'].includes((body.details as { outcome: string }).outcome))

  const requests = [
    ['POST', '/plants', '{"id":3,"name":"Rosa"}'],
    ['PUT', '/plants/1', '{"name":"Iris"}'],
    ['POST', '/tokens', '{"label":"l","scopes":["plants:read"]}'],
  ] as const
  for (const [method, path, json] of requests) {
    const response = await app.send(method, path, json)
    const rejected = (await response.json()) as Record<string, unknown>
    assert.equal(response.status, 503, `${method} ${path} ${rejected.message}`)
    assert.equal(rejected.error, 50302)
    assert.deepEqual(rejected.details, { outcome: 'none' })
  }
  assert.deepEqual(await readiness(app), MOVED)
  const metrics = await (await app.fetch('/metrics')).text()
  assert.match(metrics, /^plantstore_database_moved 1$/m)
  const [line, ...others] = linesAbout(app)
  assert.deepEqual(others, [])
  assert.equal(line?.level, 50)
  assert.match(String(line?.trouble), /moved, removed or replaced/)

  // What was acknowledged can be read from the open files as long as the service runs.
  assert.equal((await app.fetch('/plants/1')).status, 200)
  assert.equal((await app.fetch('/plants?q=rosa')).status, 200)
  const exported = await app.fetch('/plants', { headers: { accept: 'application/x-ndjson' } })
  assert.equal(exported.status, 503)
  assert.equal(((await exported.json()) as { error: number }).error, 50302)
}

/** A store whose files can be moved to another folder and back. */
async function startMovableStore(t: TestContext) {
  const { app, files, folder } = await startStore(t)
  const away = join(folder, 'away')
  mkdirSync(away)
  const names = files()
  const move = (from: string, to: string) => {
    for (const name of names) renameSync(join(from, name), join(to, name))
  }
  return { app, moveAway: () => move(folder, away), moveBack: () => move(away, folder) }
}

test('removed files are detected at the next commit, which is not acknowledged', async (t) => {
  const { app, files, folder } = await startStore(t)
  for (const name of files()) rmSync(join(folder, name))
  await assertMoved(app)
  assert.deepEqual(files(), [], 'nothing is made in their place')
})

test('moved files are detected, and writes work again once they are back', async (t) => {
  const { app, moveAway, moveBack } = await startMovableStore(t)
  moveAway()
  await assertMoved(app)

  moveBack()
  assert.equal((await create(app, 4)).status, 200)
  assert.deepEqual(await readiness(app), WORKING)
  moveAway()
  await create(app, 5)
  assert.equal(linesAbout(app).length, 2, 'one for each time')
})

test('files that are back end the failing writes that they caused, without another write', async (t) => {
  const { app, moveAway, moveBack } = await startMovableStore(t)
  moveAway()
  assert.equal((await create(app, 2)).status, 503)
  assert.deepEqual(await readiness(app), MOVED)
  moveBack()
  await eventually(async () => (await readiness(app)).writes === 'working')
})

test('a copy in place of the file is detected, and not written to', async (t) => {
  const { app, database } = await startStore(t)
  const copy = `${database}.copy`
  {
    using source = new DatabaseSync(database, { readOnly: true })
    source.exec(`VACUUM INTO '${copy}'`)
  }
  renameSync(copy, database)
  await assertMoved(app)
  await app.stop()
  using replaced = new DatabaseSync(database)
  assert.deepEqual(
    replaced
      .prepare('SELECT id FROM plants')
      .all()
      .map(({ id }) => id),
    [1],
  )
})

test('a link that now points to another file is detected', async (t) => {
  const folder = temporaryFolder(t)
  const link = join(folder, 'link.db')
  for (const name of ['one', 'other']) {
    const file = join(folder, `${name}.db`)
    await (await openFile(t, file)).close()
    rmSync(link, { force: true })
    symlinkSync(file, link)
  }
  const app = await startApp(t, { PLANTSTORE_DATABASE: link })
  assert.equal((await create(app, 1)).status, 200)
  rmSync(link)
  symlinkSync(join(folder, 'one.db'), link)
  await assertMoved(app)
})

test('a database whose log was removed keeps every acknowledged write', async (t) => {
  const database = join(temporaryFolder(t), 'plants.db')
  const service = await startService(t, { database })
  const created = await service.request('POST', '/plants', { id: 1, name: 'Rosa' })
  assert.equal(created.status, 200)
  rmSync(`${database}-wal`)
  const rejected = await service.request('POST', '/plants', { id: 2, name: 'Rosa' })
  assert.equal(rejected.status, 503)
  const plantsInFile = () => {
    using file = new DatabaseSync(`file:${database}?immutable=1`, { readOnly: true })
    return Number(file.prepare('SELECT count(*) AS count FROM plants').get()?.count)
  }
  await eventually(() => plantsInFile() > 0)
  // As a crash would: nothing is put into the file at the end.
  await service.crash()
  const again = await startService(t, { database })
  assert.equal((await again.request('GET', '/plants/1')).status, 200)
})

test('a removed index of the log is detected within seconds', async (t) => {
  const { app, database } = await startStore(t)
  rmSync(`${database}-shm`)
  await eventually(async () => (await readiness(app)).writes === 'failing')
  await assertMoved(app)
})

test('moved files are detected while nothing is written', async (t) => {
  const { app, files, folder } = await startStore(t)
  for (const name of files()) rmSync(join(folder, name))
  await eventually(async () => (await readiness(app)).writes === 'failing')
  assert.equal(linesAbout(app).length, 1)
  assert.equal((await create(app, 2)).status, 503)
  assert.equal((await app.fetch('/plants/2')).status, 404, 'it was not stored')
  assert.ok(!existsSync(join(folder, 'plants.db')))
})

test('a service whose files stay in place reports no problem', async (t) => {
  const { app } = await startStore(t)
  assert.deepEqual(await readiness(app), WORKING)
  assert.match(await (await app.fetch('/metrics')).text(), /^plantstore_database_moved 0$/m)
})
