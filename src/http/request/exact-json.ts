const INT64_MIN = -(2n ** 63n)
const INT64_MAX = 2n ** 63n - 1n

/** The longest int64 has 19 digits. */
const INT64_DIGITS_MAX = 19

/** Integers with at most this many digits are exact as numbers, and faster to parse that way. */
const SAFE_DIGITS_MAX = 15

/** Longer exponents are out of range whatever their value. No power is computed from an exponent. */
const EXPONENT_DIGITS_MAX = 7

/** The maximum number of members of an object with numbers. Exact numbers in many more would block the event loop. */
export const MEMBERS_MAX = 1_000

/** An object with numbers has more than MEMBERS_MAX members. */
export class TooManyMembersError extends Error {}

/**
 * Parses JSON as `JSON.parse` does, except that a number directly inside the outermost object is a `bigint` if its text
 * denotes an int64: `1.0` and `1e2` do, `9007199254740993.5` does not. Other numbers stay numbers. Of members with the
 * same name the last one wins. Throws a SyntaxError for invalid JSON (RFC 8259), and a TooManyMembersError.
 */
export function parseExactJson(text: string): unknown {
  const value: unknown = JSON.parse(text)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  const numbers = outermostNumbers(text)
  if (numbers.length === 0) return value
  // A new object: storing a bigint in a field where the engine has seen numbers is more expensive than all the rest.
  const exact: Record<string, unknown> = {}
  const members = Object.entries(value)
  if (members.length > MEMBERS_MAX) throw new TooManyMembersError()
  for (const [name, member] of members) setMember(exact, name, member)
  for (let at = 0; at < numbers.length; at += 2) {
    const name = numbers[at] as string
    const numberText = numbers[at + 1] as string
    // The last of several members with one name may not be a number: then the value parsed above is right.
    const parsed = exact[name]
    if (typeof parsed !== 'number' && typeof parsed !== 'bigint') continue
    setMember(exact, name, integerOf(numberText) ?? Number(numberText))
  }
  return exact
}

function setMember(object: Record<string, unknown>, name: string, value: unknown): void {
  if (name !== '__proto__') object[name] = value
  else Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true })
}

/** The direct members with numbers of a valid JSON object: name, text, name, text. Throws a TooManyMembersError. */
function outermostNumbers(text: string): string[] {
  const numbers: string[] = []
  let depth = 0
  let nameStart = -1
  let nameEnd = -1
  for (let at = 0; at < text.length; at++) {
    const character = text.charCodeAt(at)
    if (character === 0x22 /* " */) {
      const end = endOfString(text, at)
      if (nameStart < 0) {
        nameStart = at
        nameEnd = end
      }
      at = end
    } else if (character === 0x7b /* { */ || character === 0x5b /* [ */) {
      depth++
    } else if (character === 0x7d /* } */ || character === 0x5d /* ] */) {
      depth--
    } else if (depth === 1) {
      if (character === 0x2c /* , */) nameStart = -1
      else if (character === 0x2d /* - */ || (character >= 0x30 && character <= 0x39)) {
        if (numbers.length === 2 * MEMBERS_MAX) throw new TooManyMembersError()
        const end = endOfNumber(text, at)
        numbers.push(nameIn(text, nameStart, nameEnd), text.slice(at, end))
        at = end - 1
      }
    }
  }
  return numbers
}

/** The string between the quotation marks at `start` and `end`. */
function nameIn(text: string, start: number, end: number): string {
  const name = text.slice(start + 1, end)
  return name.includes('\\') ? (JSON.parse(`"${name}"`) as string) : name
}

/** The index of the quotation mark that ends the string that begins at `start`. */
function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1)
  while (isEscaped(text, end)) end = text.indexOf('"', end + 1)
  return end
}

/** Whether an odd number of backslashes precedes the character at `at`; for any text, not only JSON. */
export function isEscaped(text: string, at: number): boolean {
  let backslashes = 0
  while (text.charCodeAt(at - 1 - backslashes) === 0x5c) backslashes++
  return backslashes % 2 === 1
}

/** The index after the number that begins at `start`. */
function endOfNumber(text: string, start: number): number {
  let end = start + 1
  while (end < text.length) {
    const character = text.charCodeAt(end)
    const isPart =
      (character >= 0x30 && character <= 0x39) ||
      character === 0x2e /* . */ ||
      character === 0x2b /* + */ ||
      character === 0x2d /* - */ ||
      (character | 0x20) === 0x65 /* e, E */
    if (!isPart) break
    end++
  }
  return end
}

/** The int64 that the text of a JSON number denotes; undefined for fractions and numbers out of range. */
export function integerOf(numberText: string): bigint | undefined {
  if (numberText.length <= SAFE_DIGITS_MAX && isPlain(numberText)) return BigInt(Number(numberText))
  const parts = /^(-?)([0-9]+)(?:\.([0-9]+))?(?:[eE]([+-]?)0*([0-9]*))?$/.exec(numberText)
  if (parts === null) return undefined
  const [, sign = '', whole = '', fraction = '', exponentSign = '', exponentDigits = ''] = parts
  let digits = whole + fraction
  const first = firstOtherThanZero(digits)
  if (first === digits.length) return 0n
  const last = lastOtherThanZero(digits)
  if (exponentDigits.length > EXPONENT_DIGITS_MAX) return undefined
  const exponent = Number(`${exponentSign}${exponentDigits || '0'}`)
  const zeros = exponent - fraction.length + (digits.length - 1 - last)
  digits = digits.slice(first, last + 1)
  if (zeros < 0 || digits.length + zeros > INT64_DIGITS_MAX) return undefined
  const integer = BigInt(sign + digits + '0'.repeat(zeros))
  return integer >= INT64_MIN && integer <= INT64_MAX ? integer : undefined
}

function isPlain(numberText: string): boolean {
  for (let at = 0; at < numberText.length; at++) {
    const character = numberText.charCodeAt(at)
    if (character < 0x30 || character > 0x39) return false
  }
  return true
}

// Loops: a pattern such as /0+$/ takes quadratic time on a long run of zeros before another digit.
function firstOtherThanZero(digits: string): number {
  let at = 0
  while (at < digits.length && digits.charCodeAt(at) === 0x30) at++
  return at
}

function lastOtherThanZero(digits: string): number {
  let at = digits.length - 1
  while (digits.charCodeAt(at) === 0x30) at--
  return at
}
