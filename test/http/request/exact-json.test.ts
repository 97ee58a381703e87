import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import {
  integerOf,
  isEscaped,
  parseExactJson,
  TooManyMembersError,
} from '../../../src/http/request/exact-json.ts'
import { parseJsonText } from '../../../src/http/request/read-body.ts'
import { exactIntegerOf } from '../../support/exact-integer.ts'
import { names, numberText, objectOf, spaces, values } from '../../support/json-documents.ts'
import { cpuTimeMs } from '../../support/process/cpu-time.ts'

const INT64_MIN = -(2n ** 63n)
const INT64_MAX = 2n ** 63n - 1n
const MIB = 1024 * 1024

test('numbers in the outermost object are exact, and everything else equals JSON.parse', () => {
  const documents = fc.array(fc.tuple(names, values, spaces), { maxLength: 6 }).map((members) => ({
    text: `{${members.map(([name, { text }, space]) => `${space}${name}${space}:${text}${space}`).join(',')}}`,
    expected: objectOf(members, (value) => value.outermost),
  }))
  fc.assert(
    fc.property(documents, spaces, ({ text, expected }, space) => {
      assert.deepStrictEqual(parseExactJson(space + text + space), expected)
    }),
    { numRuns: 1500 },
  )
})

test('values that are not objects are parsed as by JSON.parse', () => {
  fc.assert(
    fc.property(values, ({ text }) => {
      if (text.startsWith('{')) return
      assert.deepStrictEqual(parseExactJson(text), JSON.parse(text))
    }),
    { numRuns: 300 },
  )
})

test('text that JSON.parse rejects is rejected with a SyntaxError', () => {
  const texts = fc.oneof(
    fc.string(),
    fc.tuple(values, fc.nat(), fc.string({ minLength: 1, maxLength: 1 })).map(([{ text }, at, inserted]) => {
      const cut = at % (text.length + 1)
      return text.slice(0, cut) + inserted + text.slice(cut)
    }),
    fc.constantFrom(
      '',
      '{',
      '{"id":01}',
      '{"id":1.}',
      '{"id":.5}',
      '{"id":+1}',
      '{"id":1e}',
      '{"id":NaN}',
      '{"id":0x1}',
    ),
    fc.constantFrom(
      '{"id":1,}',
      "{'id':1}",
      '{"id":1}{}',
      '\ufeff{"id":1}',
      '{"a":"\n"}',
      '{"id":1}\0',
      '{id:1}',
    ),
  )
  fc.assert(
    fc.property(texts, (text) => {
      let expected: unknown
      try {
        expected = JSON.parse(text)
      } catch {
        assert.throws(() => parseExactJson(text), SyntaxError)
        return
      }
      assert.equal(typeof parseExactJson(text), typeof expected)
    }),
    { numRuns: 1000 },
  )
})

test('an integer is recognised from its text, with the result of exact arithmetic', () => {
  fc.assert(
    fc.property(numberText, (text) => {
      assert.equal(integerOf(text), exactIntegerOf(text))
    }),
    { numRuns: 3000 },
  )
})

test('numbers at the bounds of 64 bits and of doubles keep every digit', () => {
  const cases: [string, bigint | undefined][] = [
    ['9223372036854775807', INT64_MAX],
    ['9223372036854775808', undefined],
    ['-9223372036854775808', INT64_MIN],
    ['-9223372036854775809', undefined],
    ['9007199254740993', 9007199254740993n],
    ['9007199254740993.0', 9007199254740993n],
    ['9007199254740993.5', undefined],
    ['9.223372036854775807e18', INT64_MAX],
    ['92233720368547758070e-1', INT64_MAX],
    ['92233720368547758071e-1', undefined],
    ['1.0', 1n],
    ['1e2', 100n],
    ['1E+2', 100n],
    ['100e-2', 1n],
    ['1e-2', undefined],
    ['-0', 0n],
    ['-0.0e-5', 0n],
    ['1e18', 10n ** 18n],
    ['1e19', undefined],
    ['0.5', undefined],
  ]
  for (const [text, expected] of cases) assert.equal(integerOf(text), expected, text)
})

test('a very long exponent is handled at once', () => {
  const cases: [string, bigint | undefined][] = [
    ['1e-1000000000', undefined],
    ['1e1000000000', undefined],
    ['0e1000000000', 0n],
    ['0e-1000000000', 0n],
    [`1e${'9'.repeat(MIB)}`, undefined],
    [`1e-${'9'.repeat(MIB)}`, undefined],
    [`7e${'0'.repeat(MIB)}`, 7n],
    [`7e${'0'.repeat(MIB)}1`, 70n],
    [`1${'0'.repeat(1_000_000)}e-1000000`, 1n],
    [`1${'0'.repeat(1_000_000)}e-999999`, 10n],
    [`0.${'0'.repeat(999_999)}1e1000000`, 1n],
  ]
  for (const [text, expected] of cases) assert.equal(integerOf(text), expected, text.slice(0, 20))
})

test('the last of several members with one name counts', () => {
  assert.deepEqual(parseExactJson('{"id":1,"id":2}'), { id: 2n })
  assert.deepEqual(parseExactJson('{"id":2,"id":1.5}'), { id: 1.5 })
  assert.deepEqual(parseExactJson('{"id":2,"\\u0069d":"2"}'), { id: '2' })
  assert.deepEqual(parseExactJson('{"id":"2","id":2}'), { id: 2n })
  assert.deepEqual(parseExactJson('{"id":[9],"id":9007199254740993}'), { id: 9007199254740993n })
  assert.deepEqual(parseExactJson('{"id":9007199254740993,"id":{"id":1}}'), { id: { id: 1 } })
})

test('a member named __proto__ is an ordinary member and changes no prototype', () => {
  const parsed = parseExactJson('{"__proto__":{"name":"x"},"id":1}') as Record<string, unknown>
  assert.equal(Object.getPrototypeOf(parsed), Object.prototype)
  assert.equal(parsed.name, undefined)
  const number = parseExactJson('{"__proto__":7}') as object
  assert.equal(Object.getPrototypeOf(number), Object.prototype)
  assert.deepEqual(Object.getOwnPropertyDescriptor(number, '__proto__')?.value, 7n)
})

test('many backslashes take linear time, also in invalid JSON', () => {
  for (const [text, at, expected] of [
    ['"', 0, false],
    ['\\"', 1, true],
    ['\\\\"', 2, false],
    ['\\\\\\', 3, true],
    ['\\', -1, false],
    ['', -1, false],
  ] as const) {
    // A loop without an end would hang the test: this ends it.
    const found = runInNewContext('isEscaped(text, at)', { isEscaped, text, at }, { timeout: 1_000 })
    assert.equal(found, expected, JSON.stringify([text, at]))
  }
})

test('a long body takes linear time', async () => {
  const shapes: Record<string, (length: number) => string> = {
    digits: (length) => `{"id":${'1'.repeat(length)}}`,
    zeros: (length) => `{"id":0.${'0'.repeat(length)}1}`,
    'zeros before a digit and an exponent': (length) => `{"id":1${'0'.repeat(length)}1e-5}`,
    'zeros in an exponent': (length) => `{"id":1e${'0'.repeat(length)}1}`,
    backslashes: (length) => `{"name":"${'\\\\'.repeat(length / 2)}"}`,
    'escaped quotation marks': (length) => `{"name":"${'\\"'.repeat(length / 2)}"}`,
    'nested arrays': (length) => `{"id":${'['.repeat(length / 2)}${']'.repeat(length / 2)}}`,
  }
  for (const [shape, textOf] of Object.entries(shapes)) {
    const short = textOf(MIB / 16)
    const long = textOf(MIB)
    // Sixteen times the length is 256 times the work where it is quadratic; noise and the collector are
    // nowhere near.
    const ratio =
      (await fastestMs(() => parseExactJson(long))) / (await fastestMs(() => parseExactJson(short)))
    assert.ok(ratio < 100, `${shape}: ${ratio.toFixed(1)} times the time for 16 times the length`)
  }
})

/** The fastest of several runs, which is what noise spoils least. */
async function fastestMs(run: () => void): Promise<number> {
  let fastest = Number.POSITIVE_INFINITY
  for (let round = 0; round < 3; round++) {
    fastest = Math.min(fastest, await cpuTimeMs(run))
  }
  return Math.max(fastest, 0.05)
}

test('an object with more than 1,000 members is rejected before its numbers are made exact', () => {
  const object = (count: number) => `{${Array.from({ length: count }, (_, at) => `"${at}":${at}`).join(',')}}`
  assert.equal(Object.keys(parseExactJson(object(1_000)) as object).length, 1_000)
  assert.throws(() => parseExactJson(object(1_001)), TooManyMembersError)
  assert.throws(() => parseExactJson(`{${'"a":1,'.repeat(1_000)}"b":1}`), TooManyMembersError)
  assert.throws(() => parseJsonText(object(100_000), 'body'), { code: 40003 })
})
