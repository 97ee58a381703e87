import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { AppError } from '../../../src/errors.ts'
import { parseJsonText } from '../../../src/http/request/read-body.ts'
import type { ImportRows } from '../../../src/plants/import/import-rows.ts'
import { createNdjsonRows } from '../../../src/plants/import/ndjson-rows.ts'
import { parseNewPlant } from '../../../src/plants/plant.ts'
import { numberText } from '../../support/json-documents.ts'

const parseJson = (text: string) => parseJsonText(text, 'line')
const read = (text: string): ImportRows => createNdjsonRows(parseJson).read(text, [])

/** The result of a line from the parser of plants, which every line must have. */
function byTheParser(line: string): unknown {
  try {
    return parseNewPlant(parseJson(line))
  } catch (error) {
    assert.ok(error instanceof AppError)
    return { code: error.code, message: error.message }
  }
}

function byTheReader(line: string): unknown {
  const { plants, failures } = read(`${line}\n`)
  assert.equal(plants.length + failures.length, 1, line)
  const [failure] = failures
  if (failure === undefined) return plants[0]
  // The parser parses single plants only.
  return { code: failure.code, message: failure.message.replace(/ Where several plants are on it: .*/, '') }
}

/** Text between quotation marks: mostly plain, sometimes with characters that need the JSON parser. */
const inQuotes = fc
  .array(
    fc.oneof(
      {
        weight: 8,
        arbitrary: fc.string({ unit: 'binary' }).map((text) => text.replace(/["\\\n\r\p{Cc}]/gu, '')),
      },
      fc.constantFrom(
        '\\n',
        '\\"',
        '\\\\',
        '\\u0041',
        '\\u0000',
        '\\ud83c\\udf31',
        '\\ud800',
        '\\x',
        '\t',
        '\u0000',
      ),
      fc.constantFrom('"', '}', ',"tag":"x"', '\u2028', '\u007f', '\uffff', '\ufeff', '\u{10ffff}'),
    ),
    { maxLength: 3 },
  )
  .map((parts) => parts.join(''))
const idText = fc.oneof(
  numberText,
  fc.integer().map(String),
  fc.bigInt({ min: -(2n ** 64n), max: 2n ** 64n }).map(String),
  fc.constantFrom(
    '0',
    '-0',
    '00',
    '01',
    '-01',
    '+1',
    '1.0',
    '1e2',
    '',
    'null',
    '"1"',
    '-',
    '999999999999999',
    '1000000000000000',
    '999999999999999999',
    '1000000000000000000',
  ),
)
const space = fc.constantFrom('', '', '', ' ', '  ', '\t')
const member = fc.oneof(
  fc.tuple(space, idText).map(([gap, id]) => `"id":${gap}${id}`),
  ...['name', 'tag', 'createdAt', 'updatedAt', 'other'].map((name) =>
    fc.tuple(space, inQuotes).map(([gap, text]) => `"${name}":${gap}"${text}"`),
  ),
)
const plainMembers = fc
  .tuple(
    fc.tuple(space, idText).map(([gap, id]) => `"id":${gap}${id}`),
    fc.tuple(space, inQuotes).map(([gap, name]) => `"name":${gap}"${name}"`),
    fc.option(inQuotes.map((tag) => `"tag":"${tag}"`)),
    fc.option(fc.tuple(inQuotes, inQuotes).map(([one, two]) => `"createdAt":"${one}","updatedAt":"${two}"`)),
  )
  .map((members) => members.filter((one) => one !== null))
const lines = fc
  .tuple(
    fc.oneof({ weight: 3, arbitrary: plainMembers }, fc.array(member, { maxLength: 5 })),
    space,
    fc.constantFrom('', '', '', ' ', '\r', '}', ','),
  )
  .map(([members, gap, ending]) => `{${members.join(`,${gap}`)}}${ending}`.replaceAll('\n', ''))

test('every line has the result of the parser of plants, whichever way it is read', () => {
  fc.assert(
    fc.property(lines, (line) => {
      // Text from UTF-8 has no lone surrogates.
      fc.pre(line.isWellFormed())
      assert.deepStrictEqual(byTheReader(line), byTheParser(line))
    }),
    { numRuns: 5_000 },
  )
})

test('the message for several plants on one line, or in an array, advises one line each', () => {
  for (const [line, advice] of [
    [
      '{"id":1,"name":"a"}{"id":2,"name":"b"}',
      /: it is invalid after character 19\. Put each plant on its own line/,
    ],
    ['{"id":1,"name":"a"} {"id":2,"name":"b"}', /Put each plant on its own line/],
    ['[{"id":1,"name":"a"},{"id":2,"name":"b"}]', /^The line must be a JSON object\. .* without brackets/],
    ['{"id":1,"name":"a",}', /^[^.]+\.$/],
  ] as const) {
    assert.match(read(`${line}\n`).failures[0]?.message ?? '', advice)
  }
})

test('lines are read in order, and each has its number', () => {
  const rows = createNdjsonRows(parseJson)
  const first = rows.read('{"id":1,"name":"a"}\n\n \t\r\n{"id":2}\n{"name":"c","id":3}\r\n', [])
  assert.deepEqual(first.plants, [
    { id: 1n, name: 'a' },
    { id: 3n, name: 'c' },
  ])
  assert.deepEqual([first.lines, first.nextLine], [[1, 5], 6])
  assert.deepEqual(
    first.failures.map(({ line, id, code }) => [line, id, code]),
    [[4, 2n, 40003]],
  )
  const fault = new AppError(41301, 'Too long.')
  const second = rows.read(
    '{\n\n{"id":9007199254740993,"name":"b","tag":"","createdAt":"x","updatedAt":"y"}\n',
    [{ at: 1, fault }],
  )
  assert.deepEqual(second.plants, [{ id: 9007199254740993n, name: 'b', tag: '' }])
  assert.deepEqual([second.lines, second.nextLine], [[8], 9])
  assert.deepEqual(
    second.failures.map(({ line, id, code }) => [line, id, code]),
    [
      [6, undefined, 40002],
      [7, undefined, 41301],
    ],
  )
})

test('a failed row has its id if that is an int64 of the outermost object', () => {
  const idOf = (line: string) => read(`${line}\n`).failures[0]?.id
  assert.equal(idOf('{"id":9223372036854775807,"name":null}'), 9223372036854775807n)
  assert.equal(idOf('{"id":1.0}'), 1n)
  for (const line of [
    '{"id":1.5}',
    '{"id":"1"}',
    '{"a":{"id":1}}',
    '[{"id":1}]',
    'null',
    '5',
    '{"__proto__":{"id":1}}',
  ]) {
    assert.equal(idOf(line), undefined, line)
  }
})
