import assert from 'node:assert/strict'
import { readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { runCommand } from '../cli/run-command.ts'
import { keepTrying } from '../support/keep-trying.ts'
import { startPlantstore } from '../support/process/plantstore-process.ts'
import { type ServiceProcess, startService } from '../support/process/service-process.ts'
import { openFile, temporaryFolder } from './sqlite/temporary-storage.ts'

const CONNECTIONS = 8
const SEEDED = 10_000
/** A backup of them takes some twenty steps: one can be stopped midway. */
const SEEDED_FOR_STEPS = 50_000
const ID_MIN = -9223372036854775808n
const ID_MAX = 9223372036854775807n

const nameOf = (id: number | bigint) => `Rosa canina ${id} ${'é'.repeat(120)}`
const tagOf = (id: number) => `tag ${id % 7}`

/** Creates as fast as the service responds, from several connections. */
function startLoad(service: ServiceProcess, firstId: number) {
  const acknowledged = new Set<number>()
  let nextId = firstId
  let isOver = false
  const connection = async () => {
    while (!isOver) {
      const id = nextId++
      const { status } = await service.request('POST', '/plants', { id, name: nameOf(id), tag: tagOf(id) })
      assert.equal(status, 200)
      acknowledged.add(id)
    }
  }
  const connections = Array.from({ length: CONNECTIONS }, connection)
  return {
    acknowledged,
    /** Gives what was sent, acknowledged or not. */
    async stop(): Promise<number> {
      isOver = true
      await Promise.all(connections)
      return nextId - firstId
    },
  }
}

async function seed(owner: TestContext, database: string, plants: number): Promise<void> {
  const storage = await openFile(owner, database)
  const plantOf = (id: bigint, tag: string | undefined) => {
    const plant = { id, name: nameOf(id), createdAtMs: 1, updatedAtMs: 1, version: 1 }
    return tag === undefined ? plant : { ...plant, tag }
  }
  for (let from = 0; from < plants; from += 1000) {
    const ids = Array.from({ length: 1000 }, (_, at) => from + at)
    await storage.dump.addPlants(ids.map((id) => plantOf(BigInt(id), tagOf(id))))
  }
  await storage.dump.addPlants([ID_MIN, ID_MAX].map((id) => plantOf(id, undefined)))
  await storage.close()
}

/** The names and tags of all plants whose id is a safe number, and how many there are in all. */
async function storedPlants(service: ServiceProcess) {
  const stored = new Map<number, string>()
  let count = 0
  for (let path: string | undefined = '/plants?limit=1000'; path !== undefined; ) {
    const { body, headers } = await service.request('GET', path)
    for (const { id, name, tag } of body as { id: number; name: string; tag?: string }[]) {
      if (Number.isSafeInteger(id)) stored.set(id, `${name}/${tag}`)
      count++
    }
    path = /<([^>]*)>; rel="next"/.exec(headers.get('link') ?? '')?.[1]
  }
  return { stored, count }
}

async function startSeeded(t: TestContext, plants = SEEDED) {
  const folder = temporaryFolder(t)
  const database = join(folder, 'plants.db')
  await seed(t, database, plants)
  const service = await startService(t, { database })
  return { folder, database, service }
}

describe('a backup of a service under full load', () => {
  test('is restored to a store with every plant that was acknowledged before the backup began', async (t) => {
    const { folder, database, service } = await startSeeded(t)
    const load = startLoad(service, 1_000_000)
    await keepTrying(() => assert.ok(load.acknowledged.size > 300), { withinMs: 30_000 })

    const before = new Set(load.acknowledged)
    const file = join(folder, 'backup.db')
    const backup = await runCommand(t, ['backup', file, '--database', database])
    assert.equal(backup.code, 0, backup.stderr)
    assert.match(backup.stderr, /^[\d,]+ plants in \S+ \(\S+ MB\), verified\.\n$/)
    const sent = await load.stop()
    assert.ok(load.acknowledged.size > before.size, 'the load went on meanwhile')
    assert.equal(statSync(file).mode & 0o777, 0o600)
    assert.deepEqual(
      readdirSync(folder).filter((name) => name.startsWith('backup')),
      ['backup.db'],
    )

    const restored = join(folder, 'elsewhere', 'plants.db')
    const restore = await runCommand(t, ['restore', file, '--database', restored])
    assert.equal(restore.code, 0, restore.stderr)
    assert.match(restore.stderr, /Tokens revoked after the backup are valid again/)
    const check = await runCommand(t, ['check', '--database', restored])
    assert.deepEqual([check.code, check.stdout], [0, ''])

    const again = await startService(t, { database: restored })
    const { stored, count } = await storedPlants(again)
    for (const id of [...before, ...Array.from({ length: SEEDED }, (_, at) => at)]) {
      assert.equal(stored.get(id), `${nameOf(id)}/${tagOf(id)}`)
      stored.delete(id)
    }
    for (const [id, text] of stored) {
      assert.ok(id >= 1_000_000 && id < 1_000_000 + sent, `${id} was sent`)
      assert.equal(text, `${nameOf(id)}/${tagOf(id)}`)
    }
    await checkExtremes(again, count)
    assert.equal(await again.stop(), 0)
    assert.equal(await service.stop(), 0)
  })

  test('that is killed midway leaves no file and does not hinder the next backup', async (t) => {
    const { folder, database, service } = await startSeeded(t, SEEDED_FOR_STEPS)
    const load = startLoad(service, 1_000_000)
    const file = join(folder, 'backup.db')
    const partials = () => readdirSync(folder).filter((name) => name.includes('.partial'))
    const isRunning = () =>
      assert.ok(partials().some((name) => statSync(join(folder, name), { throwIfNoEntry: false })?.size))
    const killed = startPlantstore(t, ['backup', file, '--database', database])
    await keepTrying(isRunning)
    killed.child.kill('SIGKILL')
    assert.equal(await killed.exit, 'SIGKILL')
    await keepTrying(() => assert.deepEqual(partials(), []))

    const interrupted = startPlantstore(t, ['backup', file, '--database', database])
    await keepTrying(isRunning)
    interrupted.child.kill('SIGINT')
    assert.equal(await interrupted.exit, 130)
    assert.equal(interrupted.stderr, 'plantstore: Interrupted.\n')
    assert.deepEqual(partials(), [])
    assert.ok(!readdirSync(folder).includes('backup.db'))

    // What is left where the machine goes down, or everything at once.
    for (const end of ['', '-journal']) {
      writeFileSync(`${file}.${killed.child.pid}.partial${end}`, 'half a backup')
    }
    const next = await runCommand(t, ['backup', file, '--database', database])
    assert.equal(next.code, 0, next.stderr)
    assert.deepEqual(partials(), [])
    await load.stop()
  })
})

/** The greatest and the least id, the search and the tags. */
async function checkExtremes(service: ServiceProcess, count: number): Promise<void> {
  for (const id of [ID_MIN, ID_MAX]) {
    const { status, body } = await service.request('GET', `/plants/${id}`)
    assert.equal(status, 200)
    assert.equal((body as { name: string }).name, nameOf(id))
  }
  await keepTrying(
    async () => {
      const { body } = await service.request('GET', `/plants?q=canina+${ID_MAX}`)
      assert.equal((body as unknown[]).length, 1)
      const found = await service.request('GET', '/plants?q=rosa+4711')
      assert.equal((found.body as { id: number }[])[0]?.id, 4711)
    },
    { withinMs: 30_000 },
  )
  const tags = (await service.request('GET', '/tags')).body as { count: number }[]
  assert.equal(
    tags.reduce((sum, tag) => sum + tag.count, 0),
    count - 2,
  )
}
