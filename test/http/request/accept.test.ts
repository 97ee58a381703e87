import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { preferredMediaType } from '../../../src/http/request/accept.ts'

const JSON_TYPE = 'application/json'
const LINES = 'application/x-ndjson'
const TABLE = 'text/csv'
const preferred = (accept: string | undefined) => preferredMediaType(accept, [JSON_TYPE, LINES, TABLE])

test('where nothing is said, or everything is as good, the first type is taken', () => {
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

test('the type of the highest quality is taken', () => {
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

test('a type that is named in full comes before one that is only taken along', () => {
  assert.equal(preferred('application/x-ndjson, */*'), LINES)
  assert.equal(preferred('*/*, text/csv'), TABLE)
  assert.equal(preferred('text/*, application/x-ndjson'), LINES)
})

test('what is named with q=0 is not wanted, whatever else is said', () => {
  assert.equal(preferred('application/json;q=0, */*'), LINES)
  assert.equal(preferred('application/*;q=0, */*;q=0.1'), TABLE)
  assert.equal(preferred('*/*;q=0'), undefined)
  assert.equal(preferred('image/png'), undefined)
})

test('a range that is not well formed counts as if it were not there', () => {
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

test('no field makes it fail', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...'*/;q=0.1,"\\ textcsv') }), (accept) => {
      const type = preferred(accept)
      return type === undefined || [JSON_TYPE, LINES, TABLE].includes(type)
    }),
  )
})
