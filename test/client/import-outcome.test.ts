import assert from 'node:assert/strict'
import { test } from 'node:test'
import { failureOf } from './failure-of.ts'
import { response, startScript } from './scripted-server.ts'

const PLANTS = [{ id: 1n, name: 'one' }]
const COUNTS = { created: 1, replaced: 0, skipped: 0, failed: 0 }
const STORED = { line: 2, counts: COUNTS, outcome: 'stored-before-line' }

test('a failed import may have stored rows, unless its error says or implies that it has not', async (context) => {
  for (const [status, code, details, isOutcomeUnknown] of [
    [400, 40002, STORED, true],
    [507, 50701, { ...STORED, outcome: 'unknown' }, true],
    [507, 50701, undefined, false],
    [500, 50001, undefined, true],
    [503, 50302, { outcome: 'none' }, false],
    [400, 40003, { outcome: 'none' }, false],
    [401, 40102, undefined, false],
    [401, 40102, STORED, true],
    [403, 40301, undefined, false],
    [400, 40004, { parameter: 'columns' }, false],
    [429, 42901, undefined, false],
  ] as const) {
    const body = JSON.stringify({ error: code, message: '', details })
    const { client } = await startScript(context, [response(status, body)])
    const error = await failureOf(client({ triesMax: 1 }).importPlants(PLANTS))
    assert.deepEqual([error.code, error.isOutcomeUnknown], [code, isOutcomeUnknown], body)
    assert.deepEqual(error.details, details ?? {})
    const dry = await failureOf(client({ triesMax: 1 }).importPlants(PLANTS, { dryRun: true }))
    assert.equal(dry.isOutcomeUnknown, false)
  }
})
