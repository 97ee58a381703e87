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

// The schemas document, the parser decides: here they are held against each other.

const INT64_MIN = -(2n ** 63n)
const INT64_MAX = 2n ** 63n - 1n

/** As the language has it; its types do not know the text of a number yet. */
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

/** A schema as the served document has it, with what its references point to. */
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
  /** The value as a validator may see it: see `documentOf`. */
  value: unknown
  /** The text of the number that is the member `id` of the outermost object, if it is one. */
  idText: string | undefined
}

/**
 * JSON text as a validator may see it. A double cannot tell 9007199254740993.5 from an integer, so each
 * number stands there as 1 where it is a whole number and as 0.5 where it is not; what the format int64 says
 * is judged on the text.
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
 * The one difference that is meant, and told in the descriptions: text that neither UTF-8 nor PostgreSQL can
 * keep.
 */
function holdsUnkeepableText({ value }: Document): boolean {
  return (
    isObject(value) &&
    [value.name, value.tag].some(
      (member) => typeof member === 'string' && (member.includes('\0') || !member.isWellFormed()),
    )
  )
}

test('the documented NewPlant and the parser accept the same bodies', () => {
  const validator = validatorOf(NewPlantSchema)
  const seen = { accepted: 0, refused: 0 }
  fc.assert(
    fc.property(bodies, (text) => {
      const document = documentOf(text)
      const isInt64 = document.idText === undefined || exactIntegerOf(document.idText) !== undefined
      const expected = validator.Check(document.value) && isInt64 && !holdsUnkeepableText(document)
      seen[expected ? 'accepted' : 'refused']++
      assert.equal(
        accepts(() => parseNewPlant(parseExactJson(text))),
        expected,
        text,
      )
    }),
    { numRuns: 4000 },
  )
  assert.ok(seen.accepted > 100 && seen.refused > 100, `too one-sided: ${JSON.stringify(seen)}`)
})

test('the documented Plant and PlantUpdate and their parsers accept the same bodies', () => {
  const doors = [
    { validator: validatorOf(PlantSchema), parse: parsePlant },
    { validator: validatorOf(PlantUpdateSchema), parse: parsePlantUpdate },
  ]
  for (const { validator, parse } of doors) {
    const seen = { accepted: 0, refused: 0 }
    fc.assert(
      fc.property(bodies, (text) => {
        const document = documentOf(text)
        const { value, idText } = document
        // An id is no member of either; where there is one all the same, it must be that of the path.
        const id = idText === undefined ? undefined : exactIntegerOf(idText)
        fc.pre(!isObject(value) || !Object.hasOwn(value, 'id') || id !== undefined)
        const expected = validator.Check(value) && !holdsUnkeepableText(document)
        seen[expected ? 'accepted' : 'refused']++
        assert.equal(
          accepts(() => parse(parseExactJson(text), id ?? 7n)),
          expected,
          text,
        )
      }),
      { numRuns: 2000 },
    )
    assert.ok(seen.accepted > 100 && seen.refused > 100, `too one-sided: ${JSON.stringify(seen)}`)
  }
})
