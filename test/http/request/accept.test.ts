import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { preferredMediaType } from '../../../src/http/request/accept.ts'

const JSON_TYPE = 'application/json'
const LINES = 'application/x-ndjson'
const TABLE = 'text/csv'
const preferred = (accept: string | undefined) => preferredMediaType(accept, [JSON_TYPE, LINES, TABLE])

test('the first type is chosen without a field, or if all are equally good', () => {
  for (const accept of [
    undefined,
    '',
    ' ',
    '*/*',
    'application/*',
    'application/json, text/plain, */*',
    'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
    'application/json, application/x-ndjson, text/csv',
    'text/csv, application/json',
  ]) {
    assert.equal(preferred(accept), JSON_TYPE, String(accept))
  }
})

test('the type of the highest quality is chosen', () => {
  const cases: [string, string | undefined][] = [
    ['text/csv', TABLE],
    ['TEXT/CSV', TABLE],
    ['application/x-ndjson', LINES],
    ['application/json;q=0.5, text/csv;q=0.9, application/x-ndjson;q=0.8', TABLE],
    ['application/json;q=0.001, text/csv;q=0.002', TABLE],
    ['text/*', TABLE],
    ['text/*;q=0.5, application/json;q=0.4', TABLE],
    ['text/csv;q=0.9, */*;q=0.8', TABLE],
    ['text/csv;q=0.8, */*;q=0.9', JSON_TYPE],
    ['text/html, application/json;q=0.2', JSON_TYPE],
    [' application/x-ndjson ; q=1.000 , application/json ; q=0.999', LINES],
    ['application/json; charset="a,b;q=0"; q=0.1, text/csv;q=0.05', JSON_TYPE],
  ]
  for (const [accept, expected] of cases) assert.equal(preferred(accept), expected, accept)
})

test('a full type takes precedence over a range that includes it', () => {
  assert.equal(preferred('application/x-ndjson, */*'), LINES)
  assert.equal(preferred('*/*, text/csv'), TABLE)
  assert.equal(preferred('text/*, application/x-ndjson'), LINES)
})

test('a type with q=0 is excluded, whatever the other ranges', () => {
  assert.equal(preferred('application/json;q=0, */*'), LINES)
  assert.equal(preferred('application/*;q=0, */*;q=0.1'), TABLE)
  assert.equal(preferred('*/*;q=0'), undefined)
  assert.equal(preferred('image/png'), undefined)
})

test('a malformed range is ignored', () => {
  for (const wrong of [
    'text/csv;q=2',
    'text/csv;q=',
    'text/csv;q=-1',
    'text/csv;q=0.1234',
    'text/csv;q=high',
  ]) {
    assert.equal(preferred(wrong), undefined, wrong)
    assert.equal(preferred(`${wrong}, application/x-ndjson;q=0.1`), LINES, wrong)
  }
})

test('a quoted value is ignored; without an end it extends to the end of the field', () => {
  assert.equal(preferred('text/csv;a="\\", application/x-ndjson;q=0.1, ";q=0.5'), TABLE)
  assert.equal(preferred('text/csv;q=0.1;a="x, application/x-ndjson'), TABLE)
  // 16 KiB of quotation marks took 0.6 s of the main thread when each one searched for its end.
  for (const unclosed of ['"', '\\"', '"\\'])
    assert.equal(preferred(`text/csv, ${unclosed.repeat(10_001)}`), TABLE)
})

test('no field causes a failure', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...'*/;q=0.1,"\\ textcsv') }), (accept) => {
      const type = preferred(accept)
      return type === undefined || [JSON_TYPE, LINES, TABLE].includes(type)
    }),
  )
})
