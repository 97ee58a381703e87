import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { createPlantStoreClient, type PlantStoreClient } from '../../src/client/plant-store-client.ts'
import { failureOf } from './failure-of.ts'
import { gather } from './gather.ts'
import { response, startScript } from './scripted-server.ts'

const PLANT = { id: 1n, name: 'a' }
const fetchNothing = () => assert.fail('it was sent')
/** For what only a program without types would give. */
const wrong = (value: unknown) => value as never

const start = (options = {}) =>
  createPlantStoreClient({ baseUrl: 'http://a', token: 'a', fetch: fetchNothing, ...options })

const REJECTED: [string, (client: PlantStoreClient) => Promise<unknown>, RegExp][] = [
  [
    'an id to count from that is a number',
    (client) => client.importPlants('a', { format: 'csv', idStart: wrong(1) }),
    /^idStart must be a bigint$/,
  ],
  [
    'an id to list from that is a number',
    (client) => gather(client.listPlants({ after: wrong(1) })),
    /^after must be a bigint$/,
  ],
  [
    'a tag that is null, in a list',
    (client) => gather(client.listPlants({ tag: wrong(null) })),
    /^tag must be a string$/,
  ],
  [
    'a tag that is null, in an export',
    (client) => gather(client.exportPlants({ tag: wrong(null) })),
    /^tag must be a string$/,
  ],
  [
    'words that are a number, in a file',
    (client) => client.exportPlants({ format: 'csv', q: wrong(1) }),
    /^q must be a string$/,
  ],
  [
    'a page size that is a text',
    (client) => gather(client.listPlants({ pageSize: wrong('9') })),
    /^limit must be a number$/,
  ],
  [
    'an export of another format',
    (client) => client.exportPlants({ format: wrong('xml') }),
    /^format must be 'ndjson' or 'csv'$/,
  ],
  [
    'an export whose format is null',
    (client) => client.exportPlants({ format: wrong(null) }),
    /^format must be 'ndjson' or 'csv'$/,
  ],
  [
    'an import of another format',
    (client) => client.importPlants('a', { format: wrong('xml') }),
    /^format must be 'ndjson' or 'csv'$/,
  ],
  [
    'a text without its format',
    (client) => client.importPlants(wrong('id,name\n1,secret\n')),
    /^format must be 'ndjson' or 'csv'$/,
  ],
  [
    'bytes without their format',
    (client) => client.importPlants(wrong(Uint8Array.of(1))),
    /^format must be 'ndjson' or 'csv'$/,
  ],
  [
    'a Blob without its format',
    (client) => client.importPlants(wrong(new Blob(['a']))),
    /^format must be 'ndjson' or 'csv'$/,
  ],
  ['a token without an id', (client) => client.revokeToken(''), /^id is not that of a token$/],
  ['a rotation without an id', (client) => client.rotateToken(''), /^id is not that of a token$/],
  ['a token that is a path', (client) => client.revokeToken('.'), /^id is not that of a token$/],
  ['a token that is the path above', (client) => client.revokeToken('..'), /^id is not that of a token$/],
  [
    'a time that is no number',
    (client) => client.getPlant(1n, { timeoutMs: Number.NaN }),
    /^timeoutMs must be a number above 0$/,
  ],
  [
    'no time',
    (client) => client.createPlant(PLANT, { timeoutMs: 0 }),
    /^timeoutMs must be a number above 0$/,
  ],
  [
    'a time that is a text',
    (client) => client.importPlants([PLANT], { timeoutMs: wrong('9') }),
    /^timeoutMs must be a number above 0$/,
  ],
]

for (const [what, call, message] of REJECTED) {
  test(`${what} is rejected, and nothing is sent`, async () => {
    await assert.rejects(
      async () => call(start()),
      (error) => {
        assert.ok(error instanceof TypeError, String(error))
        assert.match(error.message, message)
        return true
      },
    )
  })
}

test('chunks of a file without its format are rejected, and the error does not quote them', async (context) => {
  const { client } = await startScript(context, [response(200, '{}')])
  for (const source of [['secret'], Readable.from(['secret']), Readable.from([Buffer.from('secret')])]) {
    await assert.rejects(client().importPlants(wrong(source)), (error) => {
      assert.ok(error instanceof TypeError, String(error))
      assert.match(error.message, /^id must be a bigint, such as 42n, not undefined$/)
      return true
    })
  }
})

test('an invalid base URL is rejected, and so is one with a query or fragment, even an empty one', () => {
  for (const baseUrl of [
    '127.0.0.1:8080',
    'localhost:8080',
    '',
    undefined,
    'http://a/?',
    'http://a/#',
    'http://a?',
    'http://a/b#',
    'http://a/?b',
    new URL('http://a/?'),
  ])
    assert.throws(() => start({ baseUrl }), /^TypeError: baseUrl must be .* such as http:/, String(baseUrl))
})

test('invalid numbers in the options of a client are rejected', () => {
  for (const value of [Number.NaN, 0, -1, null, '5']) {
    assert.throws(() => start({ timeoutMs: value }), /^TypeError: timeoutMs must be a number above 0$/)
    assert.throws(() => start({ triesMax: value }), /^TypeError: triesMax must be a number above 0$/)
  }
})

test('an invalid token is rejected, also one that a function returns', async () => {
  for (const value of [null, undefined, 5, '', 'a b', {}]) {
    for (const token of value === undefined ? [() => value] : [value, () => value, async () => value])
      await assert.rejects(
        start({ token: wrong(token) }).getPlant(1n),
        /^TypeError: token must be visible ASCII/,
      )
  }
})

test('a response with the plant of another id fails', async (context) => {
  const other = response(200, '{"id":2,"name":"a"}', { etag: '"1"' })
  const { client } = await startScript(context, [other])
  for (const [call, isOutcomeUnknown] of [
    [client().getPlant(1n), false],
    [client().replacePlant(1n, PLANT), true],
    [client().updatePlant(1n, {}), true],
  ] as const) {
    const error = await failureOf(call)
    assert.deepEqual([error.kind, error.isOutcomeUnknown], ['response', isOutcomeUnknown])
  }
  assert.equal((await client().createPlant(PLANT)).id, 1n)
})
