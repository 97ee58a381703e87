import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { integerOf, parseExactJson } from '../../src/http/exact-json.ts'
import { exactIntegerOf } from '../support/exact-integer.ts'

const INT64_MIN = -(2n ** 63n)
const INT64_MAX = 2n ** 63n - 1n
const MIB = 1024 * 1024

/** JSON text, and what it must parse to inside the outermost object and anywhere deeper. */
interface Rendered {
  text: string
  outermost: unknown
  deeper: unknown
}

const spaces = fc.stringMatching(/^[ \t\r\n]{0,2}$/)

const digits = (maxLength: number) => fc.stringMatching(new RegExp(`^[0-9]{1,${maxLength}}$`))

const numberText = fc.oneof(
  fc.bigInt({ min: INT64_MIN - 3n, max: INT64_MAX + 3n }).map(String),
  fc.constantFrom(INT64_MIN, INT64_MAX, INT64_MIN - 1n, INT64_MAX + 1n, 2n ** 53n + 1n).map(String),
  fc
    .tuple(
      fc.constantFrom('', '-'),
      fc.oneof(fc.constant('0'), fc.stringMatching(/^[1-9][0-9]{0,20}$/)),
      fc.oneof(
        fc.constant(''),
        digits(20).map((text) => `.${text}`),
        fc.stringMatching(/^\.[0-9]?0{1,20}$/),
      ),
      fc.oneof(
        fc.constant(''),
        fc
          .tuple(
            fc.constantFrom('e', 'E'),
            fc.constantFrom('', '+', '-'),
            fc.stringMatching(/^0{0,3}[0-9]{1,2}$/),
          )
          .map((parts) => parts.join('')),
      ),
    )
    .map((parts) => parts.join('')),
)

const numbers: fc.Arbitrary<Rendered> = numberText.map((text) => ({
  text,
  outermost: exactIntegerOf(text) ?? Number(text),
  deeper: Number(text),
}))

/** Each character as it is, or escaped in one of the ways that JSON has. */
const strings = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        '\\n',
        '\\"',
        '\\\\',
        '\\/',
        '\\u0022',
        '\\u005c',
        '\\u0000',
        '\\ud800',
        '{',
        '}',
        ',',
        ':',
        '1',
      ),
      fc
        .string({ minLength: 1, maxLength: 1, unit: 'binary' })
        .map((text) => JSON.stringify(text).slice(1, -1)),
    ),
    { maxLength: 8 },
  )
  .map((pieces) => `"${pieces.join('')}"`)

const leaves: fc.Arbitrary<Rendered> = fc.oneof(
  numbers,
  fc
    .oneof(strings, fc.constantFrom('true', 'false', 'null'))
    .map((text) => ({ text, outermost: JSON.parse(text), deeper: JSON.parse(text) })),
)

const names = fc.oneof(fc.constantFrom('"id"', '"\\u0069d"', '"__proto__"', '"constructor"', '""'), strings)

function objectOf(members: [string, Rendered, string][], direct: (value: Rendered) => unknown): unknown {
  const object: Record<string, unknown> = {}
  for (const [name, value] of members) {
    Object.defineProperty(object, JSON.parse(name), {
      value: direct(value),
      enumerable: true,
      configurable: true,
      writable: true,
    })
  }
  return object
}

const { values } = fc.letrec<{ values: Rendered; arrays: Rendered; objects: Rendered }>((tie) => ({
  values: fc.oneof({ depthSize: 'small', withCrossShrink: true }, leaves, tie('arrays'), tie('objects')),
  arrays: fc.array(fc.tuple(tie('values'), spaces), { maxLength: 4 }).map((items) => {
    const list = items.map(([value]) => value.deeper)
    const text = `[${items.map(([value, space]) => space + value.text + space).join(',')}]`
    return { text, outermost: list, deeper: list }
  }),
  objects: fc.array(fc.tuple(names, tie('values'), spaces), { maxLength: 5 }).map((members) => ({
    text: `{${members.map(([name, { text }, space]) => `${space}${name}${space}:${space}${text}${space}`).join(',')}}`,
    outermost: objectOf(members, (value) => value.deeper),
    deeper: objectOf(members, (value) => value.deeper),
  })),
}))

test('direct members of the outermost object are exact, everything else is as JSON.parse has it', () => {
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

test('what is no object is parsed as JSON.parse does', () => {
  fc.assert(
    fc.property(fc.oneof(values, leaves), ({ text }) => {
      if (text.startsWith('{')) return
      assert.deepStrictEqual(parseExactJson(text), JSON.parse(text))
    }),
    { numRuns: 300 },
  )
})

test('what JSON.parse refuses is refused with a SyntaxError', () => {
  const texts = fc.oneof(
    fc.string(),
    fc.tuple(values, fc.nat(), fc.string({ minLength: 1, maxLength: 1 })).map(([{ text }, at, piece]) => {
      const cut = at % (text.length + 1)
      return text.slice(0, cut) + piece + text.slice(cut)
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

test('an integer is judged on its text, as the slow exact arithmetic judges it', () => {
  fc.assert(
    fc.property(numberText, (text) => {
      assert.equal(integerOf(text), exactIntegerOf(text))
    }),
    { numRuns: 3000 },
  )
})

test('the edges of 64 bits and of doubles keep every digit', () => {
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

test('an exponent without end is judged by its sign, at once', () => {
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

test('of members of one name the last counts, whatever the others were', () => {
  assert.deepEqual(parseExactJson('{"id":1,"id":2}'), { id: 2n })
  assert.deepEqual(parseExactJson('{"id":2,"id":1.5}'), { id: 1.5 })
  assert.deepEqual(parseExactJson('{"id":2,"\\u0069d":"2"}'), { id: '2' })
  assert.deepEqual(parseExactJson('{"id":"2","id":2}'), { id: 2n })
  assert.deepEqual(parseExactJson('{"id":[9],"id":9007199254740993}'), { id: 9007199254740993n })
  assert.deepEqual(parseExactJson('{"id":9007199254740993,"id":{"id":1}}'), { id: { id: 1 } })
})

test('a member named __proto__ is a member and changes no prototype', () => {
  const parsed = parseExactJson('{"__proto__":{"name":"x"},"id":1}') as Record<string, unknown>
  assert.equal(Object.getPrototypeOf(parsed), Object.prototype)
  assert.equal(parsed.name, undefined)
  const number = parseExactJson('{"__proto__":7}') as object
  assert.equal(Object.getPrototypeOf(number), Object.prototype)
  assert.deepEqual(Object.getOwnPropertyDescriptor(number, '__proto__')?.value, 7n)
})

test('a long body takes time in proportion to its length', () => {
  const shapes: Record<string, (length: number) => string> = {
    digits: (length) => `{"id":${'1'.repeat(length)}}`,
    zeros: (length) => `{"id":0.${'0'.repeat(length)}1}`,
    'zeros before a digit and an exponent': (length) => `{"id":1${'0'.repeat(length)}1e-5}`,
    'zeros in an exponent': (length) => `{"id":1e${'0'.repeat(length)}1}`,
    backslashes: (length) => `{"name":"${'\\\\'.repeat(length / 2)}"}`,
    'escaped quotation marks': (length) => `{"name":"${'\\"'.repeat(length / 2)}"}`,
    'nested arrays': (length) => `{"id":${'['.repeat(length / 2)}${']'.repeat(length / 2)}}`,
    'numbers of one name': (length) => `{${'"a":1,'.repeat(length / 6)}"id":1}`,
    'numbers of many names': (length) =>
      `{${Array.from({ length: length / 12 }, (_, at) => `"${at}k":1`).join(',')}}`,
  }
  for (const [shape, textOf] of Object.entries(shapes)) {
    const short = textOf(MIB / 8)
    const long = textOf(MIB)
    // Eight times the length in a quadratic algorithm is 64 times the work; noise is nowhere near that.
    const ratio = fastestMs(() => parseExactJson(long)) / fastestMs(() => parseExactJson(short))
    assert.ok(ratio < 30, `${shape}: ${ratio.toFixed(1)} times the time for 8 times the length`)
  }
})

/** The fastest of several runs, which is what noise spoils least. */
function fastestMs(run: () => void): number {
  let fastest = Number.POSITIVE_INFINITY
  for (let round = 0; round < 3; round++) {
    const start = performance.now()
    run()
    fastest = Math.min(fastest, performance.now() - start)
  }
  return Math.max(fastest, 0.05)
}
