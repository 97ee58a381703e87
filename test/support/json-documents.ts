import fc from 'fast-check'
import { exactIntegerOf } from './exact-integer.ts'

const INT64_MIN = -(2n ** 63n)
const INT64_MAX = 2n ** 63n - 1n

/** JSON text, and what it must parse to inside the outermost object and anywhere deeper. */
export interface Rendered {
  text: string
  outermost: unknown
  deeper: unknown
}

/** White space as JSON has it, none included. */
export const spaces = fc.stringMatching(/^[ \t\r\n]{0,2}$/)

const digits = (maxLength: number) => fc.stringMatching(new RegExp(`^[0-9]{1,${maxLength}}$`))

/** Numbers as JSON writes them, many about the edges of 64 bits. */
export const numberText = fc.oneof(
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
  .map((characters) => `"${characters.join('')}"`)

const leaves: fc.Arbitrary<Rendered> = fc.oneof(
  numbers,
  fc
    .oneof(strings, fc.constantFrom('true', 'false', 'null'))
    .map((text) => ({ text, outermost: JSON.parse(text), deeper: JSON.parse(text) })),
)

/** Names of members, in quotation marks. */
export const names = fc.oneof(
  fc.constantFrom('"id"', '"\\u0069d"', '"__proto__"', '"constructor"', '""'),
  strings,
)

/** The object that these members make, of one name the last. */
export function objectOf(
  members: [string, Rendered, string][],
  direct: (value: Rendered) => unknown,
): unknown {
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

/** Values of any kind and depth. */
export const { values } = fc.letrec<{ values: Rendered; arrays: Rendered; objects: Rendered }>((tie) => ({
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
