const ID_DIGITS_MAX = 20

/** Reads an id as people write it, with spaces around it or a true minus sign; undefined for what is none. */
export function parseId(text: string): bigint | undefined {
  const plain = text.trim().replace(/^[−–]/, '-')
  if (plain.length > ID_DIGITS_MAX || !/^-?\d+$/.test(plain)) return undefined
  const id = BigInt(plain)
  return BigInt.asIntN(64, id) === id ? id : undefined
}

export type PlantField = 'id' | 'name' | 'tag'

/** The parts of a service's message, each with the field that it begins with; '' for those that name none. */
export function messagesByField(message: string): Partial<Record<PlantField | '', string>> {
  const found: Partial<Record<PlantField | '', string>> = {}
  for (const part of message.split('; ')) {
    const field = (['id', 'name', 'tag'] as const).find((name) => part.startsWith(`${name} `)) ?? ''
    found[field] = found[field] === undefined ? part : `${found[field]}; ${part}`
  }
  return found
}
