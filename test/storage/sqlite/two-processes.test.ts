import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, describe, test } from 'node:test'
import type { Storage } from '../../../src/storage/storage.ts'
import { keepTrying } from '../../support/keep-trying.ts'
import { assertOneFirstToken } from '../assert-one-first-token.ts'
import { startStorageProcess } from './storage-process.ts'
import { openFile, temporaryFolder } from './temporary-storage.ts'

const ROUNDS = 40

describe('processes on one file', () => {
  test('can start together on a new file', async (t) => {
    const folder = temporaryFolder(t)
    const processes = [startStorageProcess(t), startStorageProcess(t), startStorageProcess(t)]
    const all = (path: string, atMs: number) =>
      Promise.all(processes.map((one) => one.ask('prepare', { path, atMs })))
    // Once before it counts, so that all of them have started and are warm.
    await all(join(folder, 'first.db'), 0)
    for (let round = 0; round < ROUNDS; round++) {
      const path = join(folder, `new-folder-${round}`, 'plants.db')
      assert.deepEqual(await all(path, Date.now() + 5), [undefined, undefined, undefined])
    }
  })

  test('store all their concurrent writes, and none is rejected', async (t) => {
    const path = join(temporaryFolder(t), 'plants.db')
    const processes = [startStorageProcess(t), startStorageProcess(t)]
    await Promise.all(processes.map((one) => one.ask('open', { path })))
    const plantsOf = (at: number, round: number) =>
      Array.from({ length: 300 }, (_, number) => {
        // Every third id is wanted by both.
        const id = BigInt(round * 1000 + number) * 2n + (number % 3 === 0 ? 0n : BigInt(at))
        return { id, name: `of process ${at}, number ${number}` }
      })
    const winners = new Map<bigint, string[]>()
    for (let round = 0; round < 5; round++) {
      await Promise.all(
        processes.map(async (one, at) => {
          const plants = plantsOf(at, round)
          for (const [number, { outcome }] of (await one.ask('create', { plants })).entries()) {
            const { id, name } = plants[number] ?? { id: 0n, name: '' }
            if (outcome === 'created') winners.set(id, [...(winners.get(id) ?? []), name])
            else assert.ok(outcome === 'taken' && number % 3 === 0, `${name} is ${outcome}`)
          }
        }),
      )
    }
    await Promise.all(processes.map((one) => one.ask('close', {})))
    const { plants } = await openFile(t, path, { checkOnStart: true })
    const stored = [await plants.list({ limit: 1000 }), await plants.list({ limit: 10_000, afterId: 999n })]
      .flatMap((page) => page.plants)
      .map(({ id, name }) => [id, name] as const)
    assert.equal(winners.size, 5 * 500)
    assert.deepEqual(new Map(stored.map(([id, name]) => [id, [name]])), winners)
  })

  test('create one first token if both try at the same time', async (t) => {
    const path = join(temporaryFolder(t), 'plants.db')
    await assertOneFirstToken([await openFile(t, path), await openFile(t, path)])
  })

  test('wait with writes, not with reads, while another process locks the file', async (t) => {
    const path = join(temporaryFolder(t), 'plants.db')
    const { plants } = await openFile(t, path)
    await plants.create({ id: 1n, name: 'Rosa' })
    // Waits for its turn: the service may be indexing the plant that it has just stored.
    using other = new DatabaseSync(path, { timeout: 5_000 })
    other.exec("BEGIN IMMEDIATE; UPDATE plants SET name = 'not yet'")
    let isCreated = false
    const created = plants.create({ id: 2n, name: 'Iris' }).then((outcome) => {
      isCreated = true
      return outcome
    })
    for (let times = 0; times < 20; times++) {
      assert.equal((await plants.get(1n))?.name, 'Rosa')
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
    assert.equal(isCreated, false)
    other.exec('COMMIT')
    assert.equal((await created).outcome, 'created')
    assert.equal((await plants.get(1n))?.name, 'not yet')
  })
})

describe('a second process on the file of the first', () => {
  const ends: (() => Promise<void> | void)[] = []
  const owner = { after: (end: () => Promise<void> | void) => void ends.push(end) }
  const other = startStorageProcess(owner)
  let storage: Storage

  before(async () => {
    const path = join(temporaryFolder(owner), 'plants.db')
    storage = await openFile(owner, path)
    await other.ask('open', { path })
  })
  after(async () => {
    for (const end of ends) await end()
  })

  test('sees the writes of the first one at once, and finds them by search soon', async () => {
    const { plants } = storage
    await other.ask('create', { plants: [{ id: 1n, name: 'Rosa canina' }] })
    assert.equal((await plants.get(1n))?.name, 'Rosa canina')
    await plants.update(1n, { name: 'Rosa alba' })
    assert.equal(await other.ask('nameOf', { id: 1n }), 'Rosa alba')
    await keepTrying(async () => {
      assert.equal((await plants.list({ limit: 10, words: ['rosa', 'alba'] })).plants.length, 1)
    })
  })

  test('shares its idempotency keys', async () => {
    const { plants } = storage
    const idempotency = { caller: 'gardener', key: 'k', fingerprint: 'f' }
    const created = await other.ask('create', { plants: [{ id: 2n, name: 'Rosa' }], idempotency })
    assert.deepEqual(await plants.create({ id: 2n, name: 'Rosa' }, idempotency), created[0])
    const reused = await plants.create({ id: 3n, name: 'Rosa' }, { ...idempotency, fingerprint: 'g' })
    assert.deepEqual(reused, { outcome: 'key-reused' })
  })
})
