import type { DatabaseSync } from 'node:sqlite'
import { preconditionHolds } from '../../plants/plant-store.ts'
import { rowToPlant } from './sqlite-rows.ts'
import { createOutcome, type Write, type WriteOutcome } from './write-batch.ts'

type WriteOf<Kind extends Write['kind']> = Extract<Write, { kind: Kind }>

/** The writes of plants, each a part of the transaction that its caller has begun. */
export type PlantWrites = ReturnType<typeof createPlantWrites>

export function createPlantWrites(database: DatabaseSync, idempotencyTtlUs: number) {
  const statements = prepareStatements(database)
  let newestDeletedUs = 0

  /** To be called when the transaction has begun: other processes delete plants, too. */
  function beginBatch(): void {
    newestDeletedUs = Number(statements.selectNewestDeleted.get()?.version)
  }

  /** Adds a plant and tells its time of creation: NaN when the id is taken. */
  function insert(id: bigint, name: string, tag: string | null, atUs: number): number {
    // Newer than any plant that is gone: whoever knows a version of that one must not match this one by it.
    const createdAtUs = nextVersion(atUs, newestDeletedUs)
    if (statements.insertPlant.run(id, name, tag, createdAtUs).changes === 0n) return Number.NaN
    statements.noteUnindexed.run(id)
    return createdAtUs
  }

  function create({ id, name, tag, atUs, idempotency }: WriteOf<'create'>): WriteOutcome {
    if (idempotency === undefined) return createOutcome(insert(id, name, tag, atUs))
    const { caller, key, fingerprint } = idempotency
    const known = statements.selectKey.get(caller, key)
    if (known !== undefined && Number(known.plant_created_at) >= atUs - idempotencyTtlUs) {
      if (known.fingerprint !== fingerprint) return { outcome: 'key-reused' }
      return { outcome: 'created', createdAtUs: Number(known.plant_created_at) }
    }
    const createdAtUs = insert(id, name, tag, atUs)
    if (!Number.isNaN(createdAtUs)) statements.insertKey.run(caller, key, fingerprint, createdAtUs)
    return createOutcome(createdAtUs)
  }

  function find(id: bigint) {
    const row = statements.selectPlant.get(id)
    return row === undefined ? undefined : rowToPlant(row)
  }

  function update(id: bigint, name: string, tag: string | null, atUs: number): void {
    statements.updatePlant.run(id, name, tag, atUs)
    statements.noteUnindexed.run(id)
  }

  function replace({ id, name, tag, atUs, precondition }: WriteOf<'replace'>): WriteOutcome {
    const found = find(id)
    if (!preconditionHolds(precondition, found?.updatedAtUs)) return { outcome: 'mismatch' }
    const plant = tag === null ? { id, name } : { id, name, tag }
    if (found === undefined) {
      const createdAtUs = insert(id, name, tag, atUs)
      return { outcome: 'created', plant: { ...plant, createdAtUs, updatedAtUs: createdAtUs } }
    }
    const updatedAtUs = nextVersion(atUs, found.updatedAtUs)
    update(id, name, tag, updatedAtUs)
    return { outcome: 'replaced', plant: { ...plant, createdAtUs: found.createdAtUs, updatedAtUs } }
  }

  function change({ id, change, atUs, precondition }: WriteOf<'change'>): WriteOutcome {
    const found = find(id)
    if (found === undefined) return { outcome: 'absent' }
    if (!preconditionHolds(precondition, found.updatedAtUs)) return { outcome: 'mismatch' }
    const { tag: oldTag = null, ...plant } = found
    const tag = change.tag === undefined ? oldTag : change.tag
    plant.name = change.name ?? plant.name
    plant.updatedAtUs = nextVersion(atUs, found.updatedAtUs)
    update(id, plant.name, tag, plant.updatedAtUs)
    return { outcome: 'changed', plant: tag === null ? plant : { ...plant, tag } }
  }

  function remove({ id, precondition }: WriteOf<'delete'>): WriteOutcome {
    const found = find(id)
    if (found === undefined) return { outcome: 'absent' }
    if (!preconditionHolds(precondition, found.updatedAtUs)) return { outcome: 'mismatch' }
    statements.deletePlant.run(id)
    statements.noteUnindexed.run(id)
    if (found.updatedAtUs > newestDeletedUs) {
      newestDeletedUs = found.updatedAtUs
      statements.noteNewestDeleted.run(newestDeletedUs)
    }
    return { outcome: 'deleted' }
  }

  return { beginBatch, insert, create, replace, change, remove }
}

/** Two changes within a microsecond are two versions all the same. */
function nextVersion(atUs: number, updatedAtUs: number): number {
  return Math.max(atUs, updatedAtUs + 1)
}

function prepareStatements(database: DatabaseSync) {
  const prepare = (sql: string) => {
    const statement = database.prepare(sql)
    // `run` reports the last rowid, which is any int64 here and throws where it is no safe number.
    statement.setReadBigInts(true)
    return statement
  }
  return {
    insertPlant: prepare(
      'INSERT INTO plants (id, name, tag, created_at, updated_at) VALUES (?1, ?2, ?3, ?4, ?4) ON CONFLICT DO NOTHING',
    ),
    selectPlant: prepare('SELECT id, name, tag, created_at, updated_at FROM plants WHERE id = ?'),
    updatePlant: prepare('UPDATE plants SET name = ?2, tag = ?3, updated_at = ?4 WHERE id = ?1'),
    deletePlant: prepare('DELETE FROM plants WHERE id = ?'),
    noteUnindexed: prepare('INSERT INTO unindexed_plants (plant_id) VALUES (?)'),
    selectKey: prepare(
      'SELECT fingerprint, plant_created_at FROM idempotency_keys WHERE caller = ? AND key = ?',
    ),
    insertKey: prepare('INSERT OR REPLACE INTO idempotency_keys VALUES (?, ?, ?, ?)'),
    selectNewestDeleted: prepare('SELECT version FROM newest_deleted_version'),
    noteNewestDeleted: prepare('UPDATE newest_deleted_version SET version = ?'),
  }
}
