const ID_DIGITS_MAX = 20

/** The last id that there is. */
export const ID_MAX = 2n ** 63n - 1n

/** Reads an id as people write it, with spaces around it or a true minus sign; undefined for what is none. */
export function parseId(text: string): bigint | undefined {
  const plain = text.trim().replace(/^[−–]/, '-')
  if (plain.length > ID_DIGITS_MAX || !/^-?\d+$/.test(plain)) return undefined
  const id = BigInt(plain)
  return BigInt.asIntN(64, id) === id ? id : undefined
}
