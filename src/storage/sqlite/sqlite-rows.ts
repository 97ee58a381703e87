import type { SQLOutputValue, StatementSync } from 'node:sqlite'
import type { StoredPlant } from '../../plants/plant.ts'
import type { PlantPage } from '../../plants/plant-store.ts'
import type { Scope, StoredToken } from '../../tokens/token.ts'

type Row = Record<string, SQLOutputValue>

/** Characters of names and tags in one page: a page of a thousand names of a megabyte would not fit in memory. */
const PAGE_CHARACTERS_MAX = 4 * 1024 * 1024

/** A row of plants; its `id` is read as a BigInt, or known already. */
export function rowToPlant(row: Row, id = row.id as bigint): StoredPlant {
  const plant = {
    id,
    name: row.name as string,
    createdAtUs: Number(row.created_at),
    updatedAtUs: Number(row.updated_at),
  }
  return row.tag === null ? plant : { ...plant, tag: row.tag as string }
}

export function rowToToken(row: Row): StoredToken {
  const token: StoredToken = {
    id: row.id as string,
    label: row.label as string,
    scopes: row.scopes === '' ? [] : (String(row.scopes).split(' ') as Scope[]),
    createdAtMs: Number(row.created_at),
  }
  if (row.expires_at !== null) token.expiresAtMs = Number(row.expires_at)
  if (row.last_used_at !== null) token.lastUsedAtMs = Number(row.last_used_at)
  return token
}

/** Reads plants off a statement until the page is full, in number or in characters. */
export function readPage(
  rows: ReturnType<StatementSync['iterate']>,
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
