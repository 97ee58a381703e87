import type { NewPlant, Plant, PlantUpdate } from './plant-types.ts'

/**
 * A member `id` that is a number, or else a whole string, which may hold anything that looks like one. Only
 * the name of a member is followed by a colon, and inside a string its quotation marks are escaped.
 */
const ID_OR_STRING = /("id"\s*:\s*)(-?\d+)(?=\s*[,}])|"[^"\\]*(?:\\.[^"\\]*)*"/g

/**
 * Parses JSON in which the numbers called `id`, at any depth, are read as strings, digit by digit: JSON.parse
 * rounds them, and its reviver sees the digits in the newest engines only. Throws a SyntaxError.
 */
export function parseWithIdTexts(json: string): unknown {
  return JSON.parse(
    json.replace(ID_OR_STRING, (whole, name?: string, digits?: string) =>
      name === undefined ? whole : `${name}"${digits}"`,
    ),
  )
}

/** What `parseWithIdTexts` made of an object, with its id a bigint. Throws a SyntaxError or TypeError for another. */
export function withExactId<T extends { id?: bigint }>(parsed: unknown): T {
  const object = parsed as Omit<T, 'id'> & { id: string }
  // The compiler cannot see that an Omit and what was left out make the whole again.
  return { ...object, id: BigInt(object.id) } as unknown as T
}

/** The decimal digits of an id. Throws a TypeError for what is no bigint: a number may be rounded already. */
export function idText(id: bigint): string {
  if (typeof id !== 'bigint') throw new TypeError(`an id is a bigint, such as 42n, not ${typeof id}`)
  return String(id)
}

/** The JSON of a new plant, its id exact, on one line. Throws as `idText`. */
export function newPlantJson({ id, name, tag }: NewPlant): string {
  // JSON.stringify takes no bigint: it writes a zero, the first one in its text, in the place of the id.
  return JSON.stringify({ id: 0, name, tag }).replace('0', idText(id))
}

/** The JSON of what a plant is, and of nothing else that the object holds. */
export function plantJson({ name, tag }: Plant | PlantUpdate): string {
  return JSON.stringify({ name, tag })
}
