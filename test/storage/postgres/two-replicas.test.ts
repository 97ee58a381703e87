import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import type { Storage } from '../../../src/storage/storage.ts'
import { hashToken } from '../../../src/tokens/token.ts'
import { postgresMissing } from '../../support/postgres/postgres-server.ts'
import { startServe } from '../../support/process/plantstore-process.ts'
import { assertOneFirstToken } from '../assert-one-first-token.ts'
import { openDatabase, sharePostgres } from './temporary-database.ts'

const KEY = { caller: 'greenhouse', key: 'key-1', fingerprint: 'body-1' }
const ROUNDS = 40

describe('two replicas of one database', { skip: postgresMissing }, () => {
  const shared = sharePostgres()

  async function openTwo(t: TestContext): Promise<[Storage, Storage]> {
    const url = await shared.server.createDatabase()
    return [await openDatabase(t, url), await openDatabase(t, url)]
  }

  test('share the clock of the database, however far apart their own are', async (t) => {
    const url = await shared.server.createDatabase()
    const one = await openDatabase(t, url)
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 5 * 60_000 })
    const other = await openDatabase(t, url)
    const apartMs = other.tokens.nowMs() - one.tokens.nowMs()
    assert.ok(Math.abs(apartMs) < 1_000, `${apartMs} ms apart`)
    await one.plants.create({ id: 1n, name: 'Rosa' })
    await other.plants.create({ id: 2n, name: 'Rosa' })
    const [first, second] = await Promise.all([one.plants.get(1n), one.plants.get(2n)])
    assert.ok(Math.abs((second?.createdAtMs ?? 0) - (first?.createdAtMs ?? 0)) < 5_000)
  })

  test('give an id to one of two concurrent creates', async (t) => {
    const replicas = await openTwo(t)
    for (let id = 0n; id < ROUNDS; id++) {
      const outcomes = await Promise.all(
        replicas.map(async ({ plants }, at) => (await plants.create({ id, name: `of ${at}` })).outcome),
      )
      assert.deepEqual(outcomes.sort(), ['created', 'taken'])
    }
  })

  test('replay a key that the other one has stored, also at the same time', async (t) => {
    const [a, b] = await openTwo(t)
    const first = await a.plants.create({ id: 1n, name: 'Rosa' }, KEY)
    assert.deepEqual(await b.plants.create({ id: 1n, name: 'Rosa' }, KEY), first)
    const other = await b.plants.create({ id: 2n, name: 'Rosa' }, { ...KEY, fingerprint: 'body-2' })
    assert.equal(other.outcome, 'key-reused')
    for (let id = 10n; id < 10 + ROUNDS; id++) {
      const key = { ...KEY, key: `key-${id}` }
      const [one, two] = await Promise.all(
        [a, b].map(({ plants }) => plants.create({ id, name: 'Rosa' }, key)),
      )
      assert.equal(one?.outcome, 'created')
      assert.deepEqual(one, two)
    }
  })

  test('create a plant once if both get a PUT of a new id at the same time', async (t) => {
    const replicas = await openTwo(t)
    for (let id = 0n; id < ROUNDS; id++) {
      const replaced = await Promise.all(
        replicas.map(({ plants }, at) => plants.replace(id, { name: `of ${at}` })),
      )
      assert.deepEqual(replaced.map(({ outcome }) => outcome).sort(), ['created', 'replaced'])
      const last = replaced.find(({ outcome }) => outcome === 'replaced')
      assert.deepEqual(await replicas[0].plants.get(id), last?.outcome === 'replaced' && last.plant)
    }
  })

  test('store one plant if both get one key with different ids at the same time', async (t) => {
    const replicas = await openTwo(t)
    for (let round = 0n; round < ROUNDS; round++) {
      const idOf = (at: number) => 2n * round + BigInt(at)
      const outcomes = await Promise.all(
        replicas.map(async ({ plants }, at) => {
          const key = { ...KEY, key: `key-${round}`, fingerprint: `body-${at}` }
          return (await plants.create({ id: idOf(at), name: 'Rosa' }, key)).outcome
        }),
      )
      assert.deepEqual(outcomes.toSorted(), ['created', 'key-reused'])
      assert.equal(await replicas[0].plants.get(idOf(outcomes.indexOf('key-reused'))), undefined)
    }
  })

  test("see each other's writes, and reject a token that the other one revoked", async (t) => {
    const [a, b] = await openTwo(t)
    await a.plants.create({ id: 1n, name: 'Rosa' })
    assert.equal((await b.plants.get(1n))?.name, 'Rosa')
    await a.tokens.create({ id: 'token-1', label: '', scopes: [], createdAtMs: 1 }, hashToken('one'))
    assert.equal((await b.tokens.findByHash(hashToken('one')))?.id, 'token-1')
    await a.tokens.revoke('token-1')
    assert.equal(await b.tokens.findByHash(hashToken('one')), undefined)
  })

  test('create one first token if both try to', async (t) => {
    await assertOneFirstToken(await openTwo(t))
  })

  test('that start together on an empty store print one token, which both accept', async (t) => {
    const environment = {
      PLANTSTORE_DATABASE: await shared.server.createDatabase(),
      PLANTSTORE_FIXED_TOKEN: '',
    }
    const replicas = await Promise.all([startServe(t, { environment }), startServe(t, { environment })])
    await Promise.all(replicas.map(({ child, exit }) => child.kill('SIGTERM') && exit))
    const printed = replicas.flatMap(({ stdout }) => /plst_\w+/.exec(stdout)?.[0] ?? [])
    assert.equal(printed.length, 1)
    const again = await startServe(t, { environment })
    const headers = { authorization: `Bearer ${printed[0]}` }
    assert.equal((await fetch(`${again.url}/tokens/self`, { headers })).status, 200)
  })

  test('write to the same few plants without a failure or a lost update', async (t) => {
    const replicas = await openTwo(t)
    const ids = [1n, 2n, 3n, 4n, 5n]
    for (const id of ids) await replicas[0].plants.create({ id, name: '0' })
    /** Adds one to the number in a name, as a client does that reads, changes and minds If-Match. */
    async function increment({ plants }: Storage, id: bigint): Promise<void> {
      for (;;) {
        const plant = await plants.get(id)
        assert.ok(plant)
        const change = { name: String(Number(plant.name) + 1) }
        const { outcome } = await plants.update(id, change, { ifMatch: [plant.version] })
        if (outcome === 'updated') return
        assert.equal(outcome, 'mismatch')
      }
    }
    const noise = Array.from({ length: ROUNDS }, async (_, round) => {
      const id = 100n + BigInt(round % 7)
      const { plants } = replicas[round % 2] as Storage
      await Promise.all([
        plants.create({ id, name: 'noise' }),
        plants.create({ id: id + 1n, name: 'noise' }, { ...KEY, key: `noise-${round}` }),
        plants.delete(id + 2n),
        plants.replace(id + 3n, { name: 'noise' }),
      ])
    })
    const increments = Array.from({ length: ROUNDS }, (_, round) =>
      Promise.all(ids.toReversed().map((id) => increment(replicas[round % 2] as Storage, id))),
    )
    await Promise.all([...noise, ...increments])
    for (const id of ids) assert.equal((await replicas[1].plants.get(id))?.name, String(ROUNDS))
  })
})
