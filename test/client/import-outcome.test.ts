import assert from 'node:assert/strict'
import { test } from 'node:test'
import { failureOf } from './failure-of.ts'
import { answer, refuse, startScript } from './scripted-server.ts'

const PLANTS = [{ id: 1n, name: 'one' }]
const EVENTS = { 'content-type': 'application/x-ndjson' }
const PROGRESS = '{"type":"progress","line":2,"created":1,"replaced":0,"skipped":0,"failed":0}\n'
const COUNTS = { created: 1, replaced: 0, skipped: 0, failed: 0 }
const STORED = { line: 2, counts: COUNTS, outcome: 'stored-before-line' }

test('an import that failed may have stored rows, unless the outcome is none', async (context) => {
  const calls: [number, object, boolean][] = [
    [50701, { ...STORED, outcome: 'unknown' }, true],
    [40002, STORED, true],
    [50303, {}, true],
    [40102, STORED, true],
    [40003, { outcome: 'none' }, false],
    [50302, { outcome: 'none' }, false],
  ]
  for (const [code, details, isOutcomeUnknown] of calls) {
    for (const before of ['', PROGRESS]) {
      const failure = `${JSON.stringify({ type: 'failure', error: code, message: '', details })}\n`
      const { client } = await startScript(context, [answer(200, before + failure, EVENTS)])
      const error = await failureOf(client().importPlants(PLANTS))
      assert.deepEqual([error.kind, error.code, error.isOutcomeUnknown], ['service', code, isOutcomeUnknown])
      assert.deepEqual(error.details, details)
      const dry = await failureOf(client().importPlants(PLANTS, { dryRun: true }))
      assert.equal(dry.isOutcomeUnknown, false)
    }
  }
  // Rejected before a row was read.
  const { client } = await startScript(context, [refuse(507, 50701)])
  assert.equal((await failureOf(client().importPlants(PLANTS))).isOutcomeUnknown, false)
})

test('in a browser, whose only response comes at the end, rows may be stored before an error', async (context) => {
  Object.defineProperty(globalThis, 'location', { configurable: true, value: {} })
  context.after(() => Reflect.deleteProperty(globalThis, 'location'))
  for (const [status, code, details, isOutcomeUnknown] of [
    [400, 40002, STORED, true],
    [507, 50701, { ...STORED, outcome: 'unknown' }, true],
    [507, 50701, undefined, true],
    [400, 40003, { outcome: 'none' }, false],
    [401, 40102, undefined, false],
    [401, 40102, STORED, true],
    [403, 40301, undefined, false],
    [400, 40004, { parameter: 'columns' }, false],
    [429, 42901, undefined, false],
  ] as const) {
    const body = JSON.stringify({ error: code, message: '', details })
    const { client } = await startScript(context, [answer(status, body)])
    const error = await failureOf(client().importPlants(PLANTS))
    assert.deepEqual([error.code, error.isOutcomeUnknown], [code, isOutcomeUnknown], body)
    assert.deepEqual(error.details, details ?? {})
  }
})
