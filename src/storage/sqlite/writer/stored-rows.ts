import type { DatabaseSync } from 'node:sqlite'
import type { StoredPlant } from '../../../plants/plant.ts'
import {
  CONTENT_AT,
  CONTENT_COLUMNS,
  type ContentArrays,
  PLANT_COLUMN_NAMES,
  PLANT_COLUMNS,
  plantToRow,
} from '../../plant-columns.ts'
import { prepareExact } from './prepare-exact.ts'
import type { UnindexedPlants } from './unindexed-plants.ts'

/** Plants as columns. */
interface PlantArrays {
  ids: BigInt64Array
  versions: Float64Array
  content: ContentArrays
}

/** Writes rows of plants, within the transaction of the caller, and records them for the search index. */
export interface StoredRows {
  /** False if the id is taken. */
  insert(plant: StoredPlant): boolean
  /** Inserts the plant at an index of the arrays. False if the id is taken. */
  insertAt(at: number, plants: PlantArrays, atMs: number): boolean
  update(plant: StoredPlant): void
  /** Replaces the stored plant with that id. Its times never go back. */
  replaceAt(at: number, plants: PlantArrays, atMs: number): void
  remove(id: bigint): void
}

export function createStoredRows(database: DatabaseSync, unindexed: UnindexedPlants): StoredRows {
  const content = CONTENT_COLUMNS.map(({ column }, at) => `${column} = ?${CONTENT_AT + at + 1}`).join(', ')
  const places = PLANT_COLUMN_NAMES.map((_, at) => `?${at + 1}`).join(', ')
  const insert = prepareExact(
    database,
    `INSERT INTO plants (${PLANT_COLUMNS}) VALUES (${places}) ON CONFLICT DO NOTHING`,
  )
  const update = prepareExact(
    database,
    `UPDATE plants SET created_at = ?2, updated_at = ?3, version = ?4, ${content} WHERE id = ?1`,
  )
  const replace = prepareExact(
    database,
    `UPDATE plants SET updated_at = max(updated_at, ?3), version = ?4, ${content} WHERE id = ?1`,
  )
  const remove = prepareExact(database, 'DELETE FROM plants WHERE id = ?')
  /** Shared by all statements: an array for each row was a third of the garbage. */
  const parameters: (bigint | number | string | null)[] = []

  function setParameters(at: number, { ids, versions, content }: PlantArrays, atMs: number): void {
    parameters[0] = ids[at] as bigint
    parameters[1] = atMs
    parameters[2] = atMs
    parameters[3] = versions[at] as number
    for (let column = 0; column < content.length; column++) {
      parameters[CONTENT_AT + column] = (content[column] as (string | null)[])[at] as string | null
    }
  }

  /** Inserts the row in `parameters`. */
  function insertRow(id: bigint): boolean {
    if (insert.run(...parameters).changes === 0n) return false
    unindexed.record(id)
    return true
  }

  return {
    insert(plant) {
      plantToRow(plant, parameters)
      return insertRow(plant.id)
    },
    insertAt(at, plants, atMs) {
      setParameters(at, plants, atMs)
      return insertRow(plants.ids[at] as bigint)
    },
    update(plant) {
      plantToRow(plant, parameters)
      update.run(...parameters)
      unindexed.record(plant.id)
    },
    replaceAt(at, plants, atMs) {
      setParameters(at, plants, atMs)
      replace.run(...parameters)
      unindexed.record(plants.ids[at] as bigint)
    },
    remove(id) {
      remove.run(id)
      unindexed.record(id)
    },
  }
}
