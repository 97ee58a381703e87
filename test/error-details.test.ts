import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { XStatic } from 'typebox/schema'
import {
  AppError,
  type ErrorCode,
  type ErrorDetails,
  FIELD_RULES,
  type FieldError,
  type FieldRule,
  WRITE_OUTCOMES,
  type WriteOutcome,
} from '../src/errors.ts'
import type { FieldErrorSchema } from '../src/http/response/error-schema.ts'
import { errorIn } from './support/http/error-body.ts'
import { startApp } from './support/http/start-app.ts'
import { startReplaceableApp } from './support/http/start-replaceable-app.ts'

type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false

/** The compiler compares the schema with the type of the code. */
const AGREE: Same<XStatic<typeof FieldErrorSchema>, FieldError> = true

const app = await startApp({ after })
await app.send('POST', '/plants', '{"id":1,"name":"a"}', { 'idempotency-key': 'used' })

const post = (json: string) => app.send('POST', '/plants', json)
const token = (json: string) => app.send('POST', '/tokens', json)
const csv = (text: string | Buffer, query = '') =>
  app.fetch(`/plants/import${query}`, { method: 'POST', body: text, headers: { 'content-type': 'text/csv' } })

const created = await token('{"scopes":["plants:read"]}')
const { id: tokenId } = (await created.json()) as { id: string }
const rotate = (json: string) => app.send('POST', `/tokens/${tokenId}/rotate`, json)

const altered = await startReplaceableApp({ after })

/** For every rule a request that violates it, and the field that the response names. */
const VIOLATIONS: Record<FieldRule, [request: () => Promise<Response>, name: string]> = {
  required: [() => post('{"id":2}'), 'name'],
  object: [() => post('[]'), ''],
  array: [() => token('{"scopes":"plants:read"}'), 'scopes'],
  string: [() => post('{"id":2,"name":1}'), 'name'],
  integer: [() => post('{"id":"2","name":"a"}'), 'id'],
  int64: [() => post('{"id":9223372036854775808,"name":"a"}'), 'id'],
  'well-formed': [() => post('{"id":2,"name":"a","tag":"\\u0000"}'), 'tag'],
  'single-line': [() => token('{"scopes":["plants:read"],"label":"a\\nb"}'), 'label'],
  min: [() => rotate('{"graceSeconds":-1}'), 'graceSeconds'],
  max: [() => rotate('{"graceSeconds":1000000000}'), 'graceSeconds'],
  'min-items': [() => token('{"scopes":[]}'), 'scopes'],
  'max-items': [() => csv(`id,name${',x'.repeat(1_000)}\n`), ''],
  'max-length': [() => token(`{"scopes":["plants:read"],"label":"${'x'.repeat(201)}"}`), 'label'],
  'one-of': [() => token('{"scopes":["plants:eat"]}'), 'scopes'],
  unique: [() => post('{"id":1,"name":"a"}'), 'id'],
  'date-time': [() => token('{"scopes":["plants:read"],"expiresAt":"tomorrow"}'), 'expiresAt'],
  future: [() => token('{"scopes":["plants:read"],"expiresAt":"2001-01-01T00:00:00Z"}'), 'expiresAt'],
  'same-as-path': [() => app.send('PUT', '/plants/2', '{"id":3,"name":"a"}'), 'id'],
  'unknown-member': [() => token('{"scopes":["plants:read"],"expires":"2099-01-01T00:00:00Z"}'), 'expires'],
  'utf-8': [() => csv(Buffer.from('id,name\n1,a\n', 'utf16le')), ''],
}

const bodyOf = async (response: Response) =>
  (await response.json()) as { error: ErrorCode; details?: ErrorDetails }

for (const rule of FIELD_RULES) {
  const [request, name] = VIOLATIONS[rule]
  test(`the response to a request that violates the rule ${rule} names the field and the rule`, async () => {
    const { details } = await bodyOf(await request())
    const fields = details?.fields?.map((field) => [field.name, field.rule])
    assert.deepEqual(fields, [[name, rule]])
    assert.ok(AGREE)
  })
}

test('every invalid field of a body is in the details', async () => {
  const { details } = await errorIn(await post('{"id":null,"tag":7}'), 400, 40003)
  assert.deepEqual(details, {
    fields: [
      { name: 'id', rule: 'integer' },
      { name: 'name', rule: 'required' },
      { name: 'tag', rule: 'string' },
    ],
  })
})

test('the parameter at fault is named, in the path, the query or the header', async () => {
  const key = { 'idempotency-key': '' }
  for (const [request, status, code, parameter] of [
    [app.fetch('/plants/one'), 400, 40004, 'id'],
    [app.fetch('/plants?limit=0'), 400, 40004, 'limit'],
    [app.fetch('/plants?colour=green'), 400, 40004, 'colour'],
    [app.fetch('/plants/1', { headers: { 'if-match': '"0"' } }), 412, 41201, 'If-Match'],
    [app.send('PUT', '/plants/1', '{"name":"b"}', { 'if-none-match': '*' }), 412, 41201, 'If-None-Match'],
    [app.send('POST', '/plants', '{"id":2,"name":"a"}', key), 400, 40003, 'Idempotency-Key'],
    [
      app.send('POST', '/plants', '{"id":2,"name":"a"}', { 'idempotency-key': 'used' }),
      400,
      42201,
      'Idempotency-Key',
    ],
  ] as const) {
    assert.deepEqual((await errorIn(await request, status, code)).details, { parameter })
  }
})

test('the setting to change is named', async () => {
  const { details } = await errorIn(await app.send('POST', '/tokens/configured/rotate', '{}'), 404, 40403)
  assert.deepEqual(details, { setting: 'PLANTSTORE_FIXED_TOKEN' })
})

test('a failed import has the line, the counts and the line of the row at fault', async () => {
  const { details } = await errorIn(await csv('id,name\n10,a\n1,used\n11,"open\n'), 400, 40002)
  assert.deepEqual(details, {
    fields: [{ name: '', rule: 'well-formed', line: 4 }],
    line: 4,
    counts: { created: 1, replaced: 0, skipped: 0, failed: 1 },
    outcome: 'stored-before-line',
  })
})

async function failedCreate(failure: unknown): Promise<ErrorDetails | undefined> {
  const response = await altered.instead({ create: () => Promise.reject(failure) }, () => altered.create())
  return (await bodyOf(response)).details
}

test('a write that failed with 5xx always has its outcome', async () => {
  const cases: [unknown, WriteOutcome][] = [
    [new AppError(50302, undefined, { details: { outcome: 'none' } }), 'none'],
    [new AppError(50302, undefined, { details: { outcome: 'unknown' } }), 'unknown'],
    [new AppError(50302), 'unknown'],
    [new AppError(50301), 'none'],
    [new AppError(50701), 'none'],
    [new TypeError('x is not a function'), 'unknown'],
  ]
  for (const [failure, outcome] of cases) assert.deepEqual(await failedCreate(failure), { outcome })
  assert.deepEqual(
    new Set<WriteOutcome>([...cases.map(([, outcome]) => outcome), 'stored-before-line']),
    new Set(WRITE_OUTCOMES),
  )
})

test('a read that failed has no outcome', async () => {
  const failure = new AppError(50302, undefined, { details: { outcome: 'none' } })
  const response = await altered.instead({ get: () => Promise.reject(failure) }, () =>
    altered.fetch('/plants/1'),
  )
  assert.equal((await bodyOf(response)).details, undefined)
})
