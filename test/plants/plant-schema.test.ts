import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { Compile } from 'typebox/schema'
import { AppError } from '../../src/errors.ts'
import { parseExactJson } from '../../src/http/request/exact-json.ts'
import {
  NewPlantSchema,
  PlantSchema,
  PlantUpdateSchema,
  parseNewPlant,
  parsePlant,
  parsePlantUpdate,
} from '../../src/plants/plant.ts'
import { exactIntegerOf } from '../support/exact-integer.ts'

// The schemas document what the parser accepts: these tests compare both.

const INT64_MIN = -(2n ** 63n)
const INT64_MAX = 2n ** 63n - 1n

/** JSON.parse with the text of each number, which the types of the language lack yet. */
const parseWithSource = JSON.parse as (
  text: string,
  reviver: (name: string, value: unknown, context: { source: string }) => unknown,
) => unknown

function accepts(parse: () => unknown): boolean {
  try {
    parse()
    return true
  } catch (error) {
    assert.ok(error instanceof AppError && error.code === 40003, String(error))
    return false
  }
}

/** A validator for a schema of the OpenAPI document, with its references. */
const validatorOf = (schema: object) =>
  Compile({ ...schema, components: { schemas: { Plant: PlantSchema } } } as Parameters<typeof Compile>[0])

const texts = fc
  .oneof(
    fc.string({ unit: 'grapheme', maxLength: 6 }),
    fc.constantFrom('', 'a', '\ud83c\udf31', '\0', 'a\0', '\ud800', '\udc00a', '1'),
  )
  .map((text) => JSON.stringify(text))
const numberTexts = fc.oneof(
  fc.bigInt({ min: INT64_MIN - 2n, max: INT64_MAX + 2n }).map(String),
  fc.constantFrom(
    '1',
    '0',
    '-0',
    '1.0',
    '1e2',
    '1.5',
    '9007199254740993',
    '9007199254740993.5',
    '1e-1',
    '10e-1',
  ),
  fc.constantFrom(
    '9223372036854775807',
    '9223372036854775808',
    '-9223372036854775809',
    '1e19',
    '1e300',
    '1e400',
  ),
)
const anything = fc.oneof(
  texts,
  numberTexts,
  fc.constantFrom('null', 'true', 'false', '[]', '{}', '["a"]', '[1]', '{"id":1,"name":"a"}'),
  fc.json({ maxDepth: 2 }),
)
const mostly = (usual: fc.Arbitrary<string>) =>
  fc.oneof({ weight: 4, arbitrary: usual }, { weight: 1, arbitrary: anything })
const members = fc.record(
  {
    id: mostly(numberTexts),
    name: mostly(texts),
    tag: mostly(texts),
    ['__proto__']: anything,
    constructor: anything,
    Name: anything,
  },
  { requiredKeys: [] },
)
const bodies = fc.oneof(
  { weight: 1, arbitrary: anything },
  {
    weight: 9,
    arbitrary: members.map(
      (values) =>
        `{${Object.entries(values)
          .map(([name, value]) => `${JSON.stringify(name)}:${value}`)
          .join(',')}}`,
    ),
  },
)

interface Document {
  /** The value for a validator: see `documentOf`. */
  value: unknown
  /** The text of `id` in the outermost object, if it is a number. */
  idText: string | undefined
}

/**
 * Parses JSON for a validator. As a double 9007199254740993.5 is an integer, so every integer is replaced by 1 and every
 * other number by 0.5. The format int64 is checked on the text.
 */
function documentOf(text: string): Document {
  const textOfNumber = new WeakMap<object, string>()
  const boxed: unknown = parseWithSource(text, (_name, value, { source }) => {
    if (typeof value !== 'number') return value
    const box = Object(value) as object
    textOfNumber.set(box, source)
    return box
  })
  function unbox(value: unknown): unknown {
    if (typeof value !== 'object' || value === null) return value
    const numberText = textOfNumber.get(value)
    if (numberText !== undefined) return isWhole(numberText) ? 1 : 0.5
    if (Array.isArray(value)) return value.map(unbox)
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, unbox(member)]))
  }
  const id: unknown = isObject(boxed) && Object.hasOwn(boxed, 'id') ? boxed.id : undefined
  return { value: unbox(boxed), idText: isObject(id) ? textOfNumber.get(id) : undefined }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isWhole(numberText: string): boolean {
  const [mantissa = '', exponent = '0'] = numberText.toLowerCase().split('e')
  const [whole = '', fraction = ''] = mantissa.split('.')
  const power = Number(exponent) - fraction.length
  return power >= 0 || BigInt(whole + fraction) % 10n ** BigInt(-power) === 0n
}

/**
 * The only intended difference, stated in the descriptions: text that UTF-8 or PostgreSQL cannot store.
 */
function hasUnstorableText({ value }: Document): boolean {
  return (
    isObject(value) &&
    [value.name, value.tag].some(
      (member) => typeof member === 'string' && (member.includes('\0') || !member.isWellFormed()),
    )
  )
}

test('the documented NewPlant and the parser accept the same bodies', () => {
  const validator = validatorOf(NewPlantSchema)
  const count = { accepted: 0, rejected: 0 }
  fc.assert(
    fc.property(bodies, (text) => {
      const document = documentOf(text)
      const isInt64 = document.idText === undefined || exactIntegerOf(document.idText) !== undefined
      const expected = validator.Check(document.value) && isInt64 && !hasUnstorableText(document)
      count[expected ? 'accepted' : 'rejected']++
      assert.equal(
        accepts(() => parseNewPlant(parseExactJson(text))),
        expected,
        text,
      )
    }),
    { numRuns: 4000 },
  )
  assert.ok(count.accepted > 100 && count.rejected > 100, `too one-sided: ${JSON.stringify(count)}`)
})

test('the documented Plant and PlantUpdate and their parsers accept the same bodies', () => {
  const doors = [
    { validator: validatorOf(PlantSchema), parse: parsePlant },
    { validator: validatorOf(PlantUpdateSchema), parse: parsePlantUpdate },
  ]
  for (const { validator, parse } of doors) {
    const count = { accepted: 0, rejected: 0 }
    fc.assert(
      fc.property(bodies, (text) => {
        const document = documentOf(text)
        const { value, idText } = document
        // Neither schema has an id; an id in the body must still equal that of the path.
        const id = idText === undefined ? undefined : exactIntegerOf(idText)
        fc.pre(!isObject(value) || !Object.hasOwn(value, 'id') || id !== undefined)
        const expected = validator.Check(value) && !hasUnstorableText(document)
        count[expected ? 'accepted' : 'rejected']++
        assert.equal(
          accepts(() => parse(parseExactJson(text), id ?? 7n)),
          expected,
          text,
        )
      }),
      { numRuns: 2000 },
    )
    assert.ok(count.accepted > 100 && count.rejected > 100, `too one-sided: ${JSON.stringify(count)}`)
  }
})
