import { type NewPlant, PLANT_MEMBERS, type Plant, type PlantUpdate } from './plant-types.ts'

/**
 * A member `id` with a number, or else a whole string, which may contain anything that looks like one. Only a member
 * name is followed by a colon, and quotation marks inside a string are escaped.
 */
const ID_OR_STRING = /("id"\s*:\s*)(-?\d+)(?=\s*[,}])|"[^"\\]*(?:\\.[^"\\]*)*"/g

/**
 * Parses JSON and returns numbers called `id`, at any depth, as strings of their digits. JSON.parse rounds them, and
 * its reviver has the digits in the newest engines only. Throws a SyntaxError.
 */
export function parseWithIdTexts(json: string): unknown {
  return JSON.parse(
    json.replace(ID_OR_STRING, (whole, name?: string, digits?: string) =>
      name === undefined ? whole : `${name}"${digits}"`,
    ),
  )
}

/** An object from `parseWithIdTexts`, with its id as a bigint. Throws a SyntaxError or TypeError without an id. */
export function withExactId<T extends { id?: bigint }>(parsed: unknown): T {
  const object = parsed as Omit<T, 'id'> & { id: string }
  // The compiler cannot see that the Omit and the omitted member are the whole.
  return { ...object, id: BigInt(object.id) } as unknown as T
}

/** The decimal digits of an id. Throws a TypeError for anything but a bigint: a number may already be rounded. */
export function idText(id: bigint): string {
  if (typeof id !== 'bigint') throw new TypeError(`id must be a bigint, such as 42n, not ${typeof id}`)
  return String(id)
}

/** The JSON of a new plant with its exact id, on one line. Throws as `idText`. */
export function newPlantJson(plant: NewPlant): string {
  // JSON.stringify rejects a bigint. It writes a zero, the first one of the text, in place of the id.
  return JSON.stringify({ id: 0, ...contentOf(plant) }).replace('0', idText(plant.id))
}

/** The JSON of the content of a plant, without other members of the object. */
export function plantJson(plant: Plant | PlantUpdate): string {
  return JSON.stringify(contentOf(plant))
}

function contentOf(plant: Plant | PlantUpdate): PlantUpdate {
  const content: Record<string, string | null | undefined> = {}
  for (const member of PLANT_MEMBERS) content[member] = plant[member]
  return content
}
