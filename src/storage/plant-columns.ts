import { CONTENT_MEMBERS, type PlantContent, type PlantUpdate, type StoredPlant } from '../plants/plant.ts'
import type { PlantPage, TagCount } from '../plants/plant-store.ts'

/** How a member of a plant's content is stored. */
interface StoredAs {
  column: string
  /** The type in both engines. */
  type: 'text'
}

/**
 * The only list of how the members of a plant's content are stored: the statements, rows, arrays and sizes of both
 * engines derive from it. A new member needs a migration for each engine that adds its column.
 */
const STORED_AS = {
  name: { column: 'name', type: 'text' },
  tag: { column: 'tag', type: 'text' },
} satisfies Record<keyof PlantContent, StoredAs>

/** The columns of the content, in the order of CONTENT_MEMBERS. */
export const CONTENT_COLUMNS = CONTENT_MEMBERS.map((member) => ({ ...member, ...STORED_AS[member.name] }))

/** The columns besides the content, in both engines, in the order of a PlantRow. */
export const OWN_COLUMNS = ['id', 'created_at', 'updated_at', 'version']

/** The names of all columns of plants, in both engines, in the order of a PlantRow. */
export const PLANT_COLUMN_NAMES = [...OWN_COLUMNS, ...CONTENT_COLUMNS.map(({ column }) => column)]

export const PLANT_COLUMNS = PLANT_COLUMN_NAMES.join(', ')

/** SQL for the day (UTC) on which a plant was created, in days since 1970, for both engines. */
export const ADDITION_DAY = 'created_at / 86400000'

/** A row of plants as an array, which is cheaper to read than an object, with BigInt results. */
export type PlantRow = [
  id: bigint,
  createdAtMs: bigint,
  updatedAtMs: bigint,
  version: bigint,
  ...content: (string | null)[],
]

/** A row of PLANT_COLUMNS that a driver read as an array: neither driver types the rows of a statement. */
export function plantRow(values: unknown): PlantRow {
  return values as PlantRow
}

/** The same for several rows. */
export function plantRows(values: readonly unknown[]): PlantRow[] {
  return values as PlantRow[]
}

/** The index of the first content column in a row. */
export const CONTENT_AT = OWN_COLUMNS.length

/** The index of a member in a row. */
export function placeInRow(name: keyof PlantContent): number {
  return CONTENT_AT + CONTENT_MEMBERS.findIndex((member) => member.name === name)
}

/**
 * Characters of names and tags in a page, or of tags in a list: a thousand texts of a megabyte do not fit in memory.
 */
export const PAGE_CHARACTERS_MAX = 4 * 1024 * 1024

export function rowToPlant(row: PlantRow): StoredPlant {
  const [id, createdAt, updatedAt, version] = row
  const createdAtMs = Number(createdAt)
  const updatedAtMs = createdAt === updatedAt ? createdAtMs : Number(updatedAt)
  const plant: StoredPlant = { id, name: '', createdAtMs, updatedAtMs, version: Number(version) }
  for (let at = 0; at < CONTENT_COLUMNS.length; at++) {
    const text = row[CONTENT_AT + at] as string | null
    if (text !== null) CONTENT_COLUMNS[at]?.set(plant, text)
  }
  return plant
}

/** Writes the parameters of a plant into `row` from `at` on, in the order of PLANT_COLUMN_NAMES. */
export function plantToRow(plant: StoredPlant, row: (bigint | number | string | null)[], at = 0): void {
  row[at] = plant.id
  row[at + 1] = plant.createdAtMs
  row[at + 2] = plant.updatedAtMs
  row[at + 3] = plant.version
  for (let column = 0; column < CONTENT_COLUMNS.length; column++) {
    row[at + CONTENT_AT + column] = CONTENT_COLUMNS[column]?.get(plant) ?? null
  }
}

/**
 * The content of several plants, an array for each member in the order of CONTENT_COLUMNS: cheaper to send to a thread
 * than an object for each plant.
 */
export type ContentArrays = (string | null)[][]

export function createContentArrays(length: number): ContentArrays {
  return CONTENT_COLUMNS.map(() => new Array<string | null>(length))
}

export function putContent(arrays: ContentArrays, at: number, content: PlantContent): void {
  for (let column = 0; column < CONTENT_COLUMNS.length; column++) {
    const array = arrays[column] as (string | null)[]
    array[at] = CONTENT_COLUMNS[column]?.get(content) ?? null
  }
}

/** Copies the content at an index of the arrays to a plant. */
export function takeContent(arrays: ContentArrays, at: number, plant: PlantContent): void {
  for (let column = 0; column < CONTENT_COLUMNS.length; column++) {
    const text = (arrays[column] as (string | null)[])[at] as string | null
    if (text !== null) CONTENT_COLUMNS[column]?.set(plant, text)
  }
}

/** The characters of the content, or of a change of it. */
export function charactersIn(content: PlantUpdate): number {
  let characters = 0
  for (let at = 0; at < CONTENT_COLUMNS.length; at++) {
    characters += CONTENT_COLUMNS[at]?.get(content)?.length ?? 0
  }
  return characters
}

/** Reads plants until the page is full, by number or by characters. */
export function readPage(
  rows: Iterable<PlantRow>,
  limit: number,
  isWanted: (plant: StoredPlant) => boolean = () => true,
): PlantPage {
  const plants: StoredPlant[] = []
  let characters = 0
  for (const row of rows) {
    const plant = rowToPlant(row)
    if (!isWanted(plant)) continue
    if (plants.length === limit || (plants.length > 0 && characters > PAGE_CHARACTERS_MAX)) {
      return { plants, hasMore: true }
    }
    plants.push(plant)
    characters += charactersIn(plant)
  }
  return { plants, hasMore: false }
}

/**
 * Reads tags until the list is full, by characters. Like the first plant of a page, the first tag is always included.
 */
export function readTags(rows: Iterable<TagCount>): TagCount[] {
  const tags: TagCount[] = []
  let characters = 0
  for (const row of rows) {
    if (characters > PAGE_CHARACTERS_MAX) break
    tags.push(row)
    characters += row.tag.length
  }
  return tags
}
