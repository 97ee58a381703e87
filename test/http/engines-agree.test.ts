import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { eventually } from '../support/eventually.ts'
import { type StartedApp, startApp, temporaryFolder } from '../support/http/start-app.ts'
import { postgresMissing, startPostgres } from '../support/postgres/postgres-server.ts'
import { type AgreementRequest, NOTABLE_REQUESTS, randomRequests } from './agreement-requests.ts'

const RANDOM_REQUESTS = 400
/** What is shown of two texts before and after the place from which on they differ. */
const SHOWN_CHARACTERS = 80

/** Fields whose values are random or depend on the clock. */
const OWN_FIELDS = ['etag', 'date', 'x-request-id']

/** What a service has responded that later requests repeat. */
interface Memory {
  etags: Map<string, string>
  token: string
  tokenId: string
}

interface Seen {
  status: number
  fields: Record<string, string>
  body: string
}

/** Puts the same in the place of what must differ from store to store: times, and what tokens are made of. */
function withoutChance(text: string): string {
  return text
    .replace(/"(createdAt|updatedAt|lastUsedAt)":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"/g, '"$1":"a time"')
    .replace(/"id":"[^"]+"/g, '"id":"an id"')
    .replace(/"token":"plst_\w+"/g, '"token":"a token"')
}

function fill(text: string, path: string, { etags, token, tokenId }: Memory): string {
  return text
    .replace('{etag}', etags.get(path) ?? '"none"')
    .replace('{token}', token)
    .replace('{token id}', tokenId)
}

async function ask(app: StartedApp, memory: Memory, request: AgreementRequest): Promise<Seen> {
  const path = fill(request.path, '', memory)
  const headers = Object.entries(request.headers ?? {}).map(([name, value]) => [
    name,
    fill(value, path, memory),
  ])
  const response = await app.fetch(path, {
    method: request.method,
    // Packed, two bodies of different times would not even be of one length.
    headers: { 'accept-encoding': 'identity', ...Object.fromEntries(headers) },
    ...(request.body !== undefined && { body: request.body }),
  })
  const body = await response.text()
  const etag = response.headers.get('etag')
  if (etag !== null) memory.etags.set(response.headers.get('location') ?? path, etag)
  if (path === '/tokens' && response.status === 201) {
    const made = JSON.parse(body) as { id: string; token: string }
    memory.token = made.token
    memory.tokenId = made.id
  }
  const fields = Object.fromEntries(
    [...response.headers].map(([name, value]) => {
      if (OWN_FIELDS.includes(name)) return [name, 'its own']
      return [name, memory.tokenId === '' ? value : value.replace(memory.tokenId, 'an id')]
    }),
  )
  return { status: response.status, fields, body: withoutChance(body) }
}

/** Two texts from shortly before the place where they differ: a page of names can have millions of characters. */
function aroundDifference(one: string, other: string): [string, string] {
  let at = 0
  while (at < one.length && one[at] === other[at]) at++
  const shown = (text: string) => text.slice(Math.max(0, at - SHOWN_CHARACTERS), at + SHOWN_CHARACTERS)
  return [shown(one), shown(other)]
}

function assertAgreement([onSqlite, onPostgres]: [Seen, Seen], about: string): void {
  const [expected, actual] = aroundDifference(onSqlite.body, onPostgres.body)
  assert.equal(actual, expected, about)
  assert.deepEqual({ ...onPostgres, body: '' }, { ...onSqlite, body: '' }, about)
}

describe('a service on SQLite and one on PostgreSQL', { skip: postgresMissing }, () => {
  async function startBoth(t: TestContext): Promise<(request: AgreementRequest) => Promise<[Seen, Seen]>> {
    const server = await startPostgres(t)
    const [sqlite, postgres] = await Promise.all(
      [`${temporaryFolder(t)}/plants.db`, await server.createDatabase()].map(async (database) => {
        const app = await startApp(t, {
          PLANTSTORE_DATABASE: database,
          // What it lets through depends on the time.
          PLANTSTORE_FAILED_AUTHENTICATIONS_MAX: '0',
        })
        const memory: Memory = { etags: new Map(), token: '', tokenId: '' }
        return (request: AgreementRequest) => ask(app, memory, request)
      }),
    )
    assert.ok(sqlite && postgres)
    return (request) => Promise.all([sqlite(request), postgres(request)])
  }

  test('have the same responses to the same requests, byte for byte', async (t) => {
    const askBoth = await startBoth(t)
    const seed = Math.floor(Math.random() * 2 ** 31)
    const statuses = new Set<number>()
    for (const [at, request] of [...NOTABLE_REQUESTS, ...randomRequests(RANDOM_REQUESTS, seed)].entries()) {
      let seen = await askBoth(request)
      // On SQLite a search may be a moment behind the writes (docs/decisions/0003-search-index-after-the-writes.md).
      if (/[?&]q=/.test(request.path) && seen[0].body !== seen[1].body) {
        await eventually(async () => {
          seen = await askBoth(request)
          return seen[0].body === seen[1].body
        }).catch(() => {
          // The assertion below reports the difference.
        })
      }
      assertAgreement(seen, `request ${at} of seed ${seed}: ${JSON.stringify(request).slice(0, 300)}`)
      statuses.add(seen[0].status)
    }
    // Had every request been rejected, the engines would agree on nothing.
    for (const status of [200, 201, 204, 304, 400, 401, 403, 404, 412])
      assert.ok(statuses.has(status), `${status}`)
  })
})
