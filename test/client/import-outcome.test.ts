import assert from 'node:assert/strict'
import { test } from 'node:test'
import { failureOf } from './failure-of.ts'
import { answer, refuse, startScript } from './scripted-server.ts'

const PLANTS = [{ id: 1n, name: 'one' }]
const EVENTS = { 'content-type': 'application/x-ndjson' }
const PROGRESS = '{"type":"progress","line":2,"created":1,"replaced":0,"skipped":0,"failed":0}\n'

test('an import that could not go on may have stored rows, unless it is told that nothing is stored', async (context) => {
  const calls: [number, string, boolean][] = [
    [50701, 'Full. The rows before line 2 are stored: 1 created.', true],
    [40002, 'A quotation mark is open. The rows before line 2 are stored: 1 created.', true],
    [50303, 'Shutting down.', true],
    [40102, 'The token was revoked. The rows before line 2 are stored: 1 created.', true],
    [40002, 'There is no column called name. Nothing is stored.', false],
  ]
  for (const [code, message, isOutcomeUnknown] of calls) {
    for (const told of ['', PROGRESS]) {
      const failure = `${JSON.stringify({ type: 'failure', error: code, message })}\n`
      const { client } = await startScript(context, [answer(200, told + failure, EVENTS)])
      const error = await failureOf(client().importPlants(PLANTS))
      assert.deepEqual([error.kind, error.code, error.isOutcomeUnknown], ['service', code, isOutcomeUnknown])
      const dry = await failureOf(client().importPlants(PLANTS, { dryRun: true }))
      assert.equal(dry.isOutcomeUnknown, false)
    }
  }
  // Refused before a row was read.
  const { client } = await startScript(context, [refuse(507, 50701)])
  assert.equal((await failureOf(client().importPlants(PLANTS))).isOutcomeUnknown, false)
})

test('in a browser, where the only answer comes at the end, a refusal may have rows behind it', async (context) => {
  Object.defineProperty(globalThis, 'location', { configurable: true, value: {} })
  context.after(() => Reflect.deleteProperty(globalThis, 'location'))
  for (const [status, code, message, isOutcomeUnknown] of [
    [400, 40002, 'It is cut. The rows before line 9 are stored: 8 created.', true],
    [507, 50701, 'Full. The rows before line 9 are stored: 8 created.', true],
    [400, 40002, 'There is no column called name. Nothing is stored.', false],
    [401, 40102, 'The token is not valid.', false],
    [401, 40102, 'It was revoked. The rows before line 9 are stored: 8 created.', true],
    [403, 40301, 'The token may not do this.', false],
    [400, 40004, 'There is no such parameter.', false],
    [429, 42901, 'Too many requests.', false],
  ] as const) {
    const { client } = await startScript(context, [answer(status, JSON.stringify({ error: code, message }))])
    const error = await failureOf(client().importPlants(PLANTS))
    assert.deepEqual([error.code, error.isOutcomeUnknown], [code, isOutcomeUnknown], message)
  }
})
