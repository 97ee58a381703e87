import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { readConfig } from '../../../src/config/read-config.ts'
import { openStorage } from '../../../src/storage/open-storage.ts'
import { assertErrorResponse, errorIn } from '../../support/http/error-body.ts'
import { emptyDatabase, startApp } from '../../support/http/start-app.ts'

const app = await startApp({ after })

const IDS = [
  -9223372036854775808n,
  -7n,
  0n,
  1n,
  2n,
  9007199254740992n,
  9007199254740993n,
  9223372036854775807n,
]

// Not in the order of their ids.
for (const id of IDS.toReversed()) {
  const tag = id === 1n ? '' : id > 2n ? ',"tag":"big & bold"' : ',"tag":"small"'
  await app.send('POST', '/plants', `{"id":${id},"name":"Medicago ×varia ${id}"${id === 1n ? '' : tag}}`)
}

// The search index is updated shortly after the writes.
while ((await page('/plants?q=medicago')).ids.length < IDS.length) await new Promise(setImmediate)

/** The exact ids in a response, and the path of the next page. */
async function page(path: string): Promise<{ ids: bigint[]; next: string | undefined }> {
  const response = await app.fetch(path)
  const text = await response.text()
  assert.equal(response.status, 200, text)
  const ids = [...text.matchAll(/[{,]"id":(-?\d+)/g)].map(([, id = '']) => BigInt(id))
  const link = response.headers.get('link')
  const next = /^<([^>]*)>; rel="next"$/.exec(link ?? '')?.[1]
  assert.equal(next === undefined, link === null, String(link))
  return { ids, next }
}

async function allPages(path: string): Promise<bigint[]> {
  const all: bigint[] = []
  for (let next: string | undefined = path; next !== undefined; ) {
    const { ids, next: following } = await page(next)
    all.push(...ids)
    next = following
  }
  return all
}

test('the list is an array of stored plants in the order of their ids', async () => {
  const response = await app.fetch('/plants')
  const plants = (await response.json()) as Record<string, unknown>[]
  assert.equal(response.headers.get('link'), null)
  assert.deepEqual(Object.keys(plants[0] ?? {}), ['id', 'name', 'tag', 'createdAt', 'updatedAt'])
  assert.deepEqual(Object.keys(plants[3] ?? {}), ['id', 'name', 'createdAt', 'updatedAt'])
  assert.deepEqual((await page('/plants')).ids, IDS)
})

test('the Link fields of pages of any size lead to every plant once', async () => {
  for (const limit of [1, 2, 3, 7, 8, 9])
    assert.deepEqual(await allPages(`/plants?limit=${limit}`), IDS, `${limit}`)
})

test('the link to the next page keeps the other parameters', async () => {
  const { ids, next } = await page('/plants?tag=big+%26+bold&limit=2')
  assert.deepEqual(ids, [9007199254740992n, 9007199254740993n])
  const query = new URL(next ?? '', app.url).searchParams
  assert.deepEqual(Object.fromEntries(query), { tag: 'big & bold', limit: '2', after: '9007199254740993' })
  assert.deepEqual(await allPages('/plants?tag=big%20%26%20bold&limit=1'), IDS.slice(-3))
  assert.deepEqual(await allPages('/plants?q=VARIA+x&limit=3'), IDS)
})

test('with a base URL the link is absolute, as some clients do not resolve it', async (t) => {
  const atBase = await startApp(t, { PLANTSTORE_BASE_URL: 'https://plants.example/garden/' })
  for (const id of [1, 2]) await atBase.send('POST', '/plants', `{"id":${id},"name":"a"}`)
  const response = await atBase.fetch('/plants?limit=1')
  assert.equal(
    response.headers.get('link'),
    '<https://plants.example/garden/plants?limit=1&after=1>; rel="next"',
  )
})

test('after is an exclusive bound, and not necessarily the id of a plant', async () => {
  assert.deepEqual((await page('/plants?after=9007199254740992')).ids, IDS.slice(-2))
  assert.deepEqual((await page('/plants?after=-8')).ids, IDS.slice(1))
  assert.deepEqual((await page('/plants?after=-9223372036854775808')).ids, IDS.slice(1))
  assert.deepEqual((await page('/plants?after=9223372036854775807')).ids, [])
})

test('a tag matches exactly', async () => {
  assert.deepEqual((await page('/plants?tag=small')).ids, [IDS[0], -7n, 0n, 2n])
  for (const tag of ['Small', 'smal', 'small%20', ''])
    assert.deepEqual((await page(`/plants?tag=${tag}`)).ids, [], tag)
})

test('q, tag, after and limit combine', async () => {
  const { ids, next } = await page('/plants?q=medic&tag=small&after=-7&limit=1')
  assert.deepEqual(ids, [0n])
  assert.ok(next)
  assert.deepEqual((await page('/plants?q=medic+9007')).ids, [9007199254740992n, 9007199254740993n])
  assert.deepEqual((await page('/plants?q=nothing')).ids, [])
  assert.deepEqual((await page('/plants?q=')).ids, [], 'no word finds nothing')
  assert.deepEqual((await page('/plants?q=%22%20OR%20*')).ids, [], 'no operators')
})

test('a limit above the maximum is lowered to it', async (test) => {
  const database = await emptyDatabase(test)
  const storage = await openStorage(database, readConfig({}, {}))
  await Promise.all(
    Array.from({ length: 1001 }, (_, at) => storage.plants.create({ id: BigInt(at), name: 'a' })),
  )
  await storage.close()
  const many = await startApp(test, { PLANTSTORE_DATABASE: database })
  for (const [query, length] of [
    ['', 100],
    ['?limit=1000', 1000],
    ['?limit=5000', 1000],
    [`?limit=${'9'.repeat(400)}`, 1000],
  ]) {
    const response = await many.fetch(`/plants${query}`)
    assert.equal(((await response.json()) as unknown[]).length, length, String(query))
    assert.ok(response.headers.get('link'))
  }
})

test('a query parameter that is unknown, repeated or invalid is rejected with its name', async () => {
  const cases: [string, RegExp][] = [
    ['limit=0', /^limit must be a whole number of at least 1\./],
    ['limit=-1', /^limit /],
    ['limit=1.5', /^limit /],
    ['limit=01', /^limit /],
    ['limit=', /^limit /],
    ['limit=ten', /^limit /],
    ['after=', /^after must be an integer from -9223372036854775808/],
    ['after=x', /^after /],
    ['after=1.0', /^after /],
    ['after=9223372036854775808', /^after /],
    ['offset=1', /"offset" is unknown\. Supported: limit, after, tag, q\./],
    ['Limit=1', /"Limit"/],
    ['__proto__=1', /"__proto__"/],
    ['constructor=1', /"constructor"/],
    ['tag[]=a', /"tag\[\]"/],
    ['limit=1&limit=2', /limit must be given once/],
    ['tag=a&tag=a', /tag must be given once/],
    ['tag=%00', /tag must not contain/],
    ['q=%00', /q must not contain/],
    ['access_token=secret', /"access_token"/],
    ['tag=%ff', /^The query is not percent-encoded UTF-8/],
    ['tag=100%', /^The query is not/],
    ['q=%ED%A0%80', /^The query is not/],
  ]
  for (const [query, message] of cases) {
    const error = await errorIn(await app.fetch(`/plants?${query}`), 400, 40004)
    assert.match(error.message, message)
    const name = message.source.startsWith('^The query')
      ? undefined
      : decodeURIComponent(query.split('=')[0] ?? '')
    assert.equal(error.details.parameter, name)
  }
})

test('tags in use are counted, the most used first', async () => {
  const response = await app.fetch('/tags')
  assert.equal(response.status, 200)
  assert.deepEqual(await response.json(), [
    { tag: 'small', count: 4 },
    { tag: 'big & bold', count: 3 },
  ])
  assert.deepEqual(await (await app.fetch('/tags?limit=1')).json(), [{ tag: 'small', count: 4 }])
  await assertErrorResponse(await app.fetch('/tags?limit=0'), 400, 40004)
  await assertErrorResponse(await app.fetch('/tags?tag=small'), 400, 40004)
})
