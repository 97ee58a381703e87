import { CONTENT_MEMBERS, type PlantContent, type PlantUpdate, type StoredPlant } from '../plants/plant.ts'
import type { PlantPage, TagCount } from '../plants/plant-store.ts'

/** How a member of a plant's content is stored. */
interface StoredAs {
  column: string
  /** Of either engine: SQLite and PostgreSQL call it the same. */
  type: 'text'
}

/**
 * The one list of how the members of a plant's content are stored: statements, rows, arrays and sizes of both engines
 * follow from it. A new member needs a migration of each engine that adds its column.
 */
const STORED_AS = {
  name: { column: 'name', type: 'text' },
  tag: { column: 'tag', type: 'text' },
} satisfies Record<keyof PlantContent, StoredAs>

/** The columns of the content, in the order of CONTENT_MEMBERS. */
export const CONTENT_COLUMNS = CONTENT_MEMBERS.map((member) => ({ ...member, ...STORED_AS[member.name] }))

/** The names of all columns of plants, in every engine, in the order of a PlantRow. */
export const PLANT_COLUMN_NAMES = [
  ...['id', 'created_at', 'updated_at', 'version'],
  ...CONTENT_COLUMNS.map(({ column }) => column),
]

export const PLANT_COLUMNS = PLANT_COLUMN_NAMES.join(', ')

/** The day (UTC) on which a plant was added, as a number of days since 1970, in every engine. */
export const ADDITION_DAY = 'created_at / 86400000'

/** A row of plants as an array, which is cheaper to read than an object, with BigInt results. */
export type PlantRow = [
  id: bigint,
  createdAtMs: bigint,
  updatedAtMs: bigint,
  version: bigint,
  ...content: (string | null)[],
]

/** Where the content begins in a row. */
export const CONTENT_AT = 4

/** Where a member is in a row. */
export function placeInRow(name: keyof PlantContent): number {
  return CONTENT_AT + CONTENT_MEMBERS.findIndex((member) => member.name === name)
}

/**
 * Characters of names and tags in one page, or of tags in a list: a thousand of a megabyte would not fit in memory.
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

/** Writes a plant into `row` in the order of PLANT_COLUMN_NAMES, from `at` on, as a statement takes it. */
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
 * The content of several plants, an array for each member in the order of CONTENT_COLUMNS: it crosses between threads
 * for less than an object a plant.
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

/** Sets the content of a plant to what is in the arrays at that place. */
export function takeContent(arrays: ContentArrays, at: number, plant: PlantContent): void {
  for (let column = 0; column < CONTENT_COLUMNS.length; column++) {
    const text = (arrays[column] as (string | null)[])[at] as string | null
    if (text !== null) CONTENT_COLUMNS[column]?.set(plant, text)
  }
}

/** How much text is in the content, or in a change of it. */
export function charactersIn(content: PlantUpdate): number {
  let characters = 0
  for (let at = 0; at < CONTENT_COLUMNS.length; at++) {
    characters += CONTENT_COLUMNS[at]?.get(content)?.length ?? 0
  }
  return characters
}

/** Reads plants until the page is full, in number or in characters. */
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
 * Takes tags until the list is full of their characters. The first one always comes, as the first plant of a page
 * does.
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
