import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import {
  createPlantStoreClient,
  RequestError,
  type StoredPlant,
} from '../../src/client/plant-store-client.ts'
import type { Environment } from '../../src/config/setting.ts'
import { readVersion } from '../../src/version.ts'
import { eventually } from '../support/eventually.ts'
import { startApp, TOKEN } from '../support/http/start-app.ts'
import { gather } from './gather.ts'

const ID = 9007199254740993n
const IDS = [-(2n ** 63n), -ID, 0n, ID - 1n, ID, 2n ** 63n - 1n]

async function start(context: TestContext, settings: Environment = {}) {
  const app = await startApp(context, settings)
  return { app, client: createPlantStoreClient({ baseUrl: app.url, token: TOKEN }) }
}

function isError(code: number, status: number) {
  return (error: unknown) => {
    assert.ok(error instanceof RequestError)
    assert.deepEqual([error.kind, error.code, error.status], ['service', code, status])
    assert.match(error.requestId ?? '', /^\S+$/)
    return true
  }
}

test('a plant is created and read back, whatever its 64-bit id', async (context) => {
  const { client } = await start(context)
  for (const id of IDS) {
    const name = `"id":${id}, \\ "quoted" 🌱`
    const { etag, ...created } = await client.createPlant({ id, name, tag: '' })
    assert.deepEqual(created, { id, name, tag: '' })
    const read = await client.getPlant(id)
    assert.equal(read?.etag, etag)
    assert.deepEqual([read.id, read.name, read.tag], [id, name, ''])
    assert.equal(new Date(read.createdAt).toISOString(), read.createdAt)
  }
  const untagged = await client.createPlant({ id: 1n, name: '' })
  assert.deepEqual(Object.keys(untagged).sort(), ['etag', 'id', 'name'])
  assert.deepEqual(
    (await gather(client.listPlants())).map(({ id }) => id),
    [...IDS.slice(0, 3), 1n, ...IDS.slice(3)],
  )
})

test('a create with a taken id fails with the error of the service', async (context) => {
  const { client } = await start(context)
  await client.createPlant({ id: ID, name: 'first' })
  await assert.rejects(client.createPlant({ id: ID, name: 'second' }), (error) => {
    isError(40901, 400)(error)
    assert.equal((error as RequestError).message, `The id ${ID} is already used. Choose another.`)
    assert.equal((error as RequestError).isOutcomeUnknown, false)
    return true
  })
  assert.equal((await client.getPlant(ID))?.name, 'first')
})

test('a repeated idempotency key creates a plant once, also in separate calls', async (context) => {
  const { client } = await start(context)
  const options = { idempotencyKey: 'order-7' }
  const first = await client.createPlant({ id: ID, name: 'a' }, options)
  assert.deepEqual(await client.createPlant({ id: ID, name: 'a' }, options), first)
  await assert.rejects(client.createPlant({ id: 1n, name: 'b' }, options), isError(42201, 400))
})

test('a get of an absent plant is undefined, and one of an unchanged plant says so', async (context) => {
  const { client } = await start(context)
  assert.equal(await client.getPlant(ID), undefined)
  const { etag } = await client.createPlant({ id: ID, name: 'a' })
  assert.equal(await client.getPlant(ID, { ifNoneMatch: etag }), 'unchanged')
  assert.equal(await client.getPlant(1n, { ifNoneMatch: etag }), undefined)
  const changed = await client.updatePlant(ID, { name: 'b' })
  assert.deepEqual(await client.getPlant(ID, { ifNoneMatch: etag }), changed)
})

test('a plant is replaced, updated and deleted, with or without a precondition', async (context) => {
  const { client } = await start(context)
  const added = await client.replacePlant(ID, { name: 'a', tag: 't' }, { ifNoneMatch: '*' })
  assert.deepEqual([added.id, added.name, added.tag, added.isNew], [ID, 'a', 't', true])
  await assert.rejects(client.replacePlant(ID, { name: 'b' }, { ifNoneMatch: '*' }), isError(41201, 412))
  const replaced = await client.replacePlant(ID, { name: 'b', tag: 't' }, { ifMatch: added.etag })
  assert.deepEqual([replaced.name, replaced.isNew, replaced.createdAt], ['b', false, added.createdAt])
  await assert.rejects(client.updatePlant(ID, { name: 'c' }, { ifMatch: added.etag }), isError(41201, 412))
  const changed = await client.updatePlant(ID, { tag: null }, { ifMatch: replaced.etag })
  assert.deepEqual([changed.name, 'tag' in changed], ['b', false])
  await assert.rejects(client.updatePlant(1n, { name: 'c' }), isError(40402, 404))
  await assert.rejects(client.deletePlant(ID, { ifMatch: added.etag }), isError(41201, 412))
  assert.equal(await client.deletePlant(ID, { ifMatch: changed.etag }), true)
  assert.equal(await client.deletePlant(ID), false)
})

test('the times and the ETag of a plant are not sent back in a write', async (context) => {
  const { client } = await start(context)
  await client.createPlant({ id: ID, name: 'a', tag: 't' })
  const read = (await client.getPlant(ID)) ?? assert.fail()
  const copy = await client.replacePlant(1n, read)
  assert.deepEqual([copy.id, copy.name, copy.tag], [1n, 'a', 't'])
})

test('a list is requested page by page, as far as it is read', async (context) => {
  const { app, client } = await start(context)
  for (let id = 1n; id <= 7n; id++)
    await client.createPlant({ id, name: `plant ${id}`, tag: id % 2n ? 'odd' : '' })
  const pages = await gather(client.listPlants({ pageSize: 3 }).pages())
  assert.deepEqual(
    pages.map((page) => page.map(({ id }) => id)),
    [[1n, 2n, 3n], [4n, 5n, 6n], [7n]],
  )
  const list = client.listPlants({ pageSize: 2, after: 2n, tag: 'odd' })
  assert.deepEqual(
    (await gather(list)).map(({ id }) => id),
    [3n, 5n, 7n],
  )
  assert.deepEqual(
    (await gather(list)).map(({ id }) => id),
    [3n, 5n, 7n],
    'a second loop requests the list again',
  )
  const found = await eventually(async () => {
    const plants: StoredPlant[] = await gather(client.listPlants({ q: 'plant 4' }))
    return plants.length > 0 && plants
  })
  assert.deepEqual(
    found.map(({ name }) => name),
    ['plant 4'],
  )
  assert.deepEqual(await gather(client.listPlants({ tag: 'none & such' })), [])
  let asked = 0
  const counting = createPlantStoreClient({
    baseUrl: app.url,
    token: TOKEN,
    fetch: (...request) => {
      asked++
      return fetch(...request)
    },
  })
  for await (const { id } of counting.listPlants({ pageSize: 1 })) if (id === 2n) break
  assert.equal(asked, 2)
})

test('the next id is exact and free', async (context) => {
  const { client } = await start(context)
  assert.equal(await client.getNextId(), 1n)
  await client.createPlant({ id: 9007199254740990n, name: 'a' })
  assert.equal(await client.getNextId(), 9007199254740991n)
})

test('tags are counted', async (context) => {
  const { client } = await start(context)
  for (const [id, tag] of ['palm', 'oak', 'palm'].entries())
    await client.createPlant({ id: BigInt(id), name: 'a', tag })
  assert.deepEqual(await client.listTags(), [
    { tag: 'palm', count: 2 },
    { tag: 'oak', count: 1 },
  ])
  assert.deepEqual(await client.listTags({ limit: 1 }), [{ tag: 'palm', count: 2 }])
})

test('plants are counted by the day of their creation', async (context) => {
  const { client } = await start(context)
  const added = await Promise.all(
    [1n, 2n].map(async (id) => {
      await client.createPlant({ id, name: 'a' })
      return (await client.getPlant(id))?.createdAt.slice(0, 10)
    }),
  )
  const { countedAt, days } = await client.countAdditions()
  assert.deepEqual(
    days.flatMap(({ day, count }) => Array.from({ length: count }, () => day)),
    added.toSorted(),
  )
  assert.ok(Math.abs(Date.parse(countedAt) - Date.now()) < 60_000, countedAt)
})

test('a token is created, used within its scopes, listed and revoked', async (context) => {
  const { app, client } = await start(context)
  const expiresAt = '2099-01-01T00:00:00.000Z'
  const { token, ...made } = await client.createToken({
    label: 'greenhouse',
    scopes: ['plants:read'],
    expiresAt,
  })
  assert.deepEqual([made.label, made.scopes, made.expiresAt], ['greenhouse', ['plants:read'], expiresAt])
  const reader = createPlantStoreClient({ baseUrl: new URL(`${app.url}/`), token: async () => token })
  assert.equal((await reader.getOwnToken()).id, made.id)
  assert.equal(await reader.getPlant(1n), undefined)
  await assert.rejects(reader.createPlant({ id: 1n, name: 'a' }), isError(40301, 403))
  assert.deepEqual(
    (await client.listTokens()).map(({ id }) => id),
    [made.id],
  )
  assert.equal(await client.revokeToken(made.id), true)
  assert.equal(await client.revokeToken(made.id), false)
  await assert.rejects(reader.getOwnToken(), isError(40102, 401))
  await assert.rejects(createPlantStoreClient({ baseUrl: app.url }).getOwnToken(), isError(40101, 401))
})

test('a token is rotated by its id and by itself, and the old secret expires as requested', async (context) => {
  const { app, client } = await start(context)
  const made = await client.createToken({ scopes: ['plants:read'] })
  const using = (token: string) => createPlantStoreClient({ baseUrl: app.url, token })
  const { token, ...rotated } = await client.rotateToken(made.id)
  assert.deepEqual({ ...rotated, token: made.token }, made)
  assert.equal((await using(made.token).getOwnToken()).id, made.id)
  const last = await using(token).rotateToken('self', { graceSeconds: 0, timeoutMs: 5_000 })
  await assert.rejects(using(token).getOwnToken(), isError(40102, 401))
  assert.equal((await using(last.token).getOwnToken()).id, made.id)
  await assert.rejects(client.rotateToken('nobody'), isError(40403, 404))
})

test('health and readiness need no token, also below the path of a base URL', async (context) => {
  const { app } = await start(context, { PLANTSTORE_BASE_URL: 'https://plants.example/my/store' })
  const client = createPlantStoreClient({ baseUrl: `${new URL(app.url).origin}/my/store/` })
  await client.getHealth()
  assert.equal((await client.getReadiness()).version, await readVersion())
  await assert.rejects(createPlantStoreClient({ baseUrl: new URL(app.url).origin }).getHealth(), RequestError)
})

test('an invalid argument is a TypeError, and nothing is sent', async () => {
  for (const baseUrl of [
    'localhost:8080',
    'ftp://a',
    'a',
    '',
    'http://user:word@a',
    'http://a/?b',
    'http://a/#b',
  ]) {
    assert.throws(() => createPlantStoreClient({ baseUrl }), TypeError, baseUrl)
  }
  const fetchNothing = () => assert.fail('it was sent')
  const client = createPlantStoreClient({ baseUrl: 'http://a', token: 'a', fetch: fetchNothing })
  const number = 42 as unknown as bigint
  await assert.rejects(client.getPlant(number), /^TypeError: id must be a bigint, such as 42n, not number$/)
  await assert.rejects(client.createPlant({ id: number, name: 'a' }), TypeError)
  await assert.rejects(client.updatePlant(1n, { name: 'a' }, { ifMatch: '' }), TypeError)
  await assert.rejects(client.createPlant({ id: 1n, name: 'a' }, { idempotencyKey: 'a\nb' }), TypeError)
  const secret = createPlantStoreClient({ baseUrl: 'http://a', token: 'plst_secret\n', fetch: fetchNothing })
  await assert.rejects(secret.getPlant(1n), (error) => {
    assert.ok(error instanceof TypeError)
    assert.doesNotMatch(error.message, /secret/)
    return true
  })
})
