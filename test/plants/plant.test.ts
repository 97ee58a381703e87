import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { AppError } from '../../src/errors.ts'
import { parseExactJson } from '../../src/http/request/exact-json.ts'
import { parseIdText, parseNewPlant, parsePlant, parsePlantUpdate } from '../../src/plants/plant.ts'

const INT64_MIN = -(2n ** 63n)
const INT64_MAX = 2n ** 63n - 1n

function rejectionOf(parse: () => unknown): string {
  try {
    parse()
  } catch (error) {
    assert.ok(error instanceof AppError, String(error))
    assert.equal(error.code, 40003)
    return error.message
  }
  assert.fail('It was accepted')
}

test('a new plant has its id, name and optional tag unchanged', () => {
  assert.deepEqual(parseNewPlant({ id: 1n, name: 'Ficus', tag: 'tree' }), {
    id: 1n,
    name: 'Ficus',
    tag: 'tree',
  })
  assert.deepEqual(parseNewPlant({ id: INT64_MIN, name: '' }), { id: INT64_MIN, name: '' })
  assert.deepEqual(parseNewPlant({ id: INT64_MAX, name: ' × e\u0301 ', tag: '' }), {
    id: INT64_MAX,
    name: ' × e\u0301 ',
    tag: '',
  })
})

test('other members are ignored and never stored', () => {
  const body = parseExactJson(
    '{"id":1,"name":"a","__proto__":{"tag":"x"},"constructor":1,"toString":2,"extra":{}}',
  )
  assert.deepEqual(parseNewPlant(body), { id: 1n, name: 'a' })
  assert.deepEqual(parsePlant(body, 1n), { name: 'a' })
  assert.deepEqual(parsePlantUpdate(body, 1n), { name: 'a' })
})

test('a member that is only inherited is missing', () => {
  assert.match(
    rejectionOf(() => parseNewPlant(Object.create({ id: 1n, name: 'a' }))),
    /^id is required\. name is required\.$/,
  )
})

test('every invalid field is named, with its rule and the kind of its value', () => {
  const cases: [unknown, string[], RegExp][] = [
    [{}, ['id required', 'name required'], /^id is required\. name is required\.$/],
    [{ id: 1n }, ['name required'], /^name is required\.$/],
    [{ name: 'a' }, ['id required'], /^id is required\.$/],
    [{ id: '1', name: 'a' }, ['id integer'], /^id must be an integer .*, not a string\.$/],
    [{ id: null, name: 'a' }, ['id integer'], /^id must be an integer .*, not null\.$/],
    [{ id: true, name: 'a' }, ['id integer'], /^id must be an integer .*, not a boolean\.$/],
    [{ id: [1n], name: 'a' }, ['id integer'], /^id must be an integer .*, not an array\.$/],
    [{ id: {}, name: 'a' }, ['id integer'], /^id must be an integer .*, not an object\.$/],
    [
      { id: 1.5, name: 'a' },
      ['id int64'],
      /^id must be an integer from -9223372036854775808 to 9223372036854775807/,
    ],
    [{ id: 2 ** 63, name: 'a' }, ['id int64'], /^id must be an integer /],
    [{ id: 0, name: 'a' }, ['id int64'], /^id must be an integer /],
    [{ id: 1n, name: null }, ['name string'], /^name must be a string, not null\.$/],
    [{ id: 1n, name: 7n }, ['name string'], /^name must be a string, not a number\.$/],
    [{ id: 1n, name: 1e30 }, ['name string'], /^name must be a string, not a number\.$/],
    [{ id: 1n, name: ['a'] }, ['name string'], /^name must be a string, not an array\.$/],
    [{ id: 1n, name: 'a\0b' }, ['name well-formed'], /^name must not contain U\+0000 or lone surrogates\.$/],
    [{ id: 1n, name: 'a\ud800' }, ['name well-formed'], /^name must not contain /],
    [{ id: 1n, name: 'a', tag: null }, ['tag string'], /not null\. Omit it for a plant without a tag\.$/],
    [{ id: 1n, name: 'a', tag: 1n }, ['tag string'], /^tag must be a string, not a number\.$/],
    [{ id: 1n, name: 'a', tag: '\udc00' }, ['tag well-formed'], /^tag must not contain /],
    [
      { id: 'x', name: 1n, tag: false },
      ['id integer', 'name string', 'tag string'],
      /^id must .*, not a string\. name must .*, not a number\. tag must .*, not a boolean\.$/,
    ],
  ]
  for (const [body, rules, message] of cases) {
    assert.throws(
      () => parseNewPlant(body),
      (error) => {
        assert.ok(error instanceof AppError && error.code === 40003)
        assert.deepEqual(
          error.details?.fields?.map(({ name, rule }) => `${name} ${rule}`),
          rules,
        )
        assert.match(error.message, message)
        return true
      },
    )
  }
})

test('a body that is not an object is rejected with its kind', () => {
  const cases: [string, string][] = [
    ['[]', 'an array'],
    ['null', 'null'],
    ['"x"', 'a string'],
    ['5', 'a number'],
    ['1.5', 'a number'],
    ['true', 'a boolean'],
  ]
  for (const [text, kind] of cases) {
    const body = parseExactJson(text)
    const expected = `The body must be a JSON object, not ${kind}.`
    assert.equal(
      rejectionOf(() => parseNewPlant(body)),
      expected,
    )
    assert.equal(
      rejectionOf(() => parsePlant(body, 1n)),
      expected,
    )
    assert.equal(
      rejectionOf(() => parsePlantUpdate(body, 1n)),
      expected,
    )
  }
})

test('no message quotes the request', () => {
  const secret = 'Cannot-Be-Quoted'
  for (const body of [
    secret,
    [secret],
    { id: secret, name: { secret }, tag: [secret] },
    { id: 1n, name: `${secret}\0` },
  ]) {
    assert.ok(!rejectionOf(() => parseNewPlant(body)).includes(secret))
  }
})

test('an id in the body of a replace or update equals that of the path, or is absent', () => {
  assert.deepEqual(parsePlant({ id: 7n, name: 'a' }, 7n), { name: 'a' })
  assert.deepEqual(parsePlant({ name: 'a', tag: 'b' }, 7n), { name: 'a', tag: 'b' })
  assert.deepEqual(parsePlantUpdate({ id: 7n, tag: null }, 7n), { tag: null })
  for (const id of [8n, 7, '7', null]) {
    const message = 'id must be the id in the path, 7, or be omitted.'
    assert.equal(
      rejectionOf(() => parsePlant({ id, name: 'a' }, 7n)),
      message,
    )
    assert.equal(
      rejectionOf(() => parsePlantUpdate({ id }, 7n)),
      message,
    )
  }
})

test('an update has the members to change; null deletes the tag, and is invalid for the name', () => {
  assert.deepEqual(parsePlantUpdate({}, 1n), {})
  assert.deepEqual(parsePlantUpdate({ name: 'a' }, 1n), { name: 'a' })
  assert.deepEqual(parsePlantUpdate({ name: 'a', tag: null }, 1n), { name: 'a', tag: null })
  assert.match(
    rejectionOf(() => parsePlantUpdate({ name: null }, 1n)),
    /^name must be a string, not null\.$/,
  )
  assert.match(
    rejectionOf(() => parsePlantUpdate({ tag: 1n }, 1n)),
    /^tag must be a string, not a number\.$/,
  )
})

test('an id in a path is a 64-bit integer in plain digits', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: INT64_MIN, max: INT64_MAX }), (id) => parseIdText(String(id)) === id),
  )
  const malformed = [
    '',
    '-',
    '+1',
    '00',
    '01',
    '-01',
    '1.0',
    '1e2',
    ' 1',
    '1 ',
    '1\n',
    '0x1',
    '١',
    '1_0',
    'NaN',
  ]
  malformed.push('9223372036854775808', '-9223372036854775809', '1'.repeat(100_000))
  for (const text of malformed) assert.equal(parseIdText(text), undefined, JSON.stringify(text.slice(0, 30)))
})
