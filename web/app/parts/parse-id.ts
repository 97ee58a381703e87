const ID_DIGITS_MAX = 20

/** The greatest id. */
export const ID_MAX = 2n ** 63n - 1n

/** Groups of three digits, with one separator between all of them. */
const GROUPED = /^-?\d{1,3}(?:([,.'’_\s])\d{3})(?:\1\d{3})*$/

/**
 * Parses an id as people type it, with spaces around, a typographic minus sign, or groups of digits as in 5,000,000;
 * undefined if the text is not an id.
 */
export function parseId(text: string): bigint | undefined {
  const signed = text.trim().replace(/^[−–]/, '-')
  const plain = GROUPED.test(signed) ? signed.replace(/[^\d-]/g, '') : signed
  if (plain.length > ID_DIGITS_MAX || !/^-?\d+$/.test(plain)) return undefined
  const id = BigInt(plain)
  return BigInt.asIntN(64, id) === id ? id : undefined
}
