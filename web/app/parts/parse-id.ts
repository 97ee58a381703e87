const ID_DIGITS_MAX = 20

/** The greatest id. */
export const ID_MAX = 2n ** 63n - 1n

/** Parses an id as people type it, with spaces or a typographic minus sign; undefined if the text is not an id. */
export function parseId(text: string): bigint | undefined {
  const plain = text.trim().replace(/^[−–]/, '-')
  if (plain.length > ID_DIGITS_MAX || !/^-?\d+$/.test(plain)) return undefined
  const id = BigInt(plain)
  return BigInt.asIntN(64, id) === id ? id : undefined
}
