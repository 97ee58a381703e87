import type { StoredPlant } from '../plants/plant.ts'
import type { PlantPage, TagCount } from '../plants/plant-store.ts'

/** The columns of plants, in every engine, in the order of a PlantRow. */
export const PLANT_COLUMNS = 'id, name, tag, created_at, updated_at, version'

/** The day (UTC) on which a plant was added, as a number of days since 1970, in every engine. */
export const ADDITION_DAY = 'created_at / 86400000'

/** A row of plants as an array, which is cheaper to read than an object, with BigInt results. */
export type PlantRow = [
  id: bigint,
  name: string,
  tag: string | null,
  createdAtMs: bigint,
  updatedAtMs: bigint,
  version: bigint,
]

/**
 * Characters of names and tags in one page, or of tags in a list: a thousand of a megabyte would not fit in memory.
 */
export const PAGE_CHARACTERS_MAX = 4 * 1024 * 1024

export function rowToPlant([id, name, tag, createdAt, updatedAt, version]: PlantRow): StoredPlant {
  const createdAtMs = Number(createdAt)
  const updatedAtMs = createdAt === updatedAt ? createdAtMs : Number(updatedAt)
  return tag === null
    ? { id, name, createdAtMs, updatedAtMs, version: Number(version) }
    : { id, name, tag, createdAtMs, updatedAtMs, version: Number(version) }
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
    characters += plant.name.length + (plant.tag?.length ?? 0)
  }
  return { plants, hasMore: false }
}

/** Takes tags until the list is full of their characters. The first one always comes, as the first plant of a page does. */
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
