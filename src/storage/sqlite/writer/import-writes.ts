import type { DatabaseSync } from 'node:sqlite'
import {
  CREATED,
  type ImportWrite,
  type ImportWriteOutcome,
  KEPT,
  REPLACED,
} from '../../batching/plant-write.ts'
import { PLANT_COLUMNS } from '../../plant-columns.ts'
import type { UnindexedPlants } from './unindexed-plants.ts'

/** What performs a step of an import, a part of the transaction that its caller has begun. */
export function createImportStep(database: DatabaseSync, unindexed: UnindexedPlants) {
  const insertPlant = database.prepare(
    `INSERT INTO plants (${PLANT_COLUMNS}) VALUES (?1, ?2, ?3, ?4, ?4, ?5) ON CONFLICT DO NOTHING`,
  )
  const replacePlant = database.prepare(
    'UPDATE plants SET name = ?2, tag = ?3, updated_at = max(updated_at, ?4), version = ?5 WHERE id = ?1',
  )
  // `run` reports the last rowid, which is any int64 here and throws where it is no safe number.
  for (const statement of [insertPlant, replacePlant]) statement.setReadBigInts(true)

  return function importStep(write: ImportWrite): ImportWriteOutcome {
    const { ids, names, tags, versions, atMs, replacesTaken } = write
    const codes = new Uint8Array(ids.length)
    for (let at = 0; at < codes.length; at++) {
      const id = ids[at] as bigint
      const name = names[at] as string
      const tag = tags[at] as string | null
      const version = versions[at] as number
      if (insertPlant.run(id, name, tag, atMs, version).changes === 1n) codes[at] = CREATED
      else if (replacesTaken) {
        replacePlant.run(id, name, tag, atMs, version)
        codes[at] = REPLACED
      } else codes[at] = KEPT
      if (codes[at] !== KEPT) unindexed.note(id)
    }
    return { outcome: 'imported', codes }
  }
}
