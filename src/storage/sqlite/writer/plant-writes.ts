import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { StoredPlant } from '../../../plants/plant.ts'
import { preconditionHolds } from '../../../plants/plant-store.ts'
import type { PlantWriteOutcome, WriteOf } from '../../batching/plant-write.ts'
import { PLANT_COLUMNS, type PlantRow, rowToPlant } from '../../plant-columns.ts'
import type { UnindexedPlants } from './unindexed-plants.ts'

/** The writes of plants, each a part of the transaction that its caller has begun. */
export function createPlantWrites(
  database: DatabaseSync,
  unindexed: UnindexedPlants,
  idempotencyTtlMs: number,
) {
  const statements = prepareStatements(database)

  /** Adds a plant: false when the id is taken. */
  function insert(
    id: bigint,
    name: string,
    tag: string | null,
    atMs: number,
    version: number,
    updatedAtMs = atMs,
  ): boolean {
    if (statements.insertPlant.run(id, name, tag, atMs, updatedAtMs, version).changes === 0n) return false
    unindexed.note(id)
    return true
  }

  function create({ id, name, tag, atMs, version, idempotency }: WriteOf<'create'>): PlantWriteOutcome {
    if (idempotency === undefined) {
      return insert(id, name, tag, atMs, version) ? { outcome: 'created', version } : { outcome: 'taken' }
    }
    const { caller, key, fingerprint } = idempotency
    const known = statements.selectKey.get(caller, key)
    if (known !== undefined && Number(known.created_at) >= atMs - idempotencyTtlMs) {
      if (known.fingerprint !== fingerprint) return { outcome: 'key-reused' }
      return { outcome: 'created', version: Number(known.plant_version) }
    }
    if (!insert(id, name, tag, atMs, version)) return { outcome: 'taken' }
    statements.insertKey.run(caller, key, fingerprint, version, atMs)
    return { outcome: 'created', version }
  }

  const find = (id: bigint) => findPlant(statements.selectPlant, id)

  /**
   * Writes a plant over the one that is stored, and tells it. Times do not go back, even where the clock
   * does.
   */
  function update(found: StoredPlant, name: string, tag: string | null, atMs: number, version: number) {
    const { id, createdAtMs } = found
    const updatedAtMs = Math.max(atMs, found.updatedAtMs)
    statements.updatePlant.run(id, name, tag, updatedAtMs, version)
    unindexed.note(id)
    return plantOf(id, name, tag, { createdAtMs, updatedAtMs, version })
  }

  function replace({ id, name, tag, atMs, version, precondition }: WriteOf<'replace'>): PlantWriteOutcome {
    const found = find(id)
    if (!preconditionHolds(precondition, found?.version)) return { outcome: 'mismatch' }
    if (found !== undefined) return { outcome: 'replaced', plant: update(found, name, tag, atMs, version) }
    insert(id, name, tag, atMs, version)
    const times = { createdAtMs: atMs, updatedAtMs: atMs, version }
    return { outcome: 'created', plant: plantOf(id, name, tag, times) }
  }

  function change({ id, change, atMs, version, precondition }: WriteOf<'update'>): PlantWriteOutcome {
    const found = find(id)
    if (found === undefined) return { outcome: 'absent' }
    if (!preconditionHolds(precondition, found.version)) return { outcome: 'mismatch' }
    const { name = found.name, tag = found.tag ?? null } = change
    return { outcome: 'updated', plant: update(found, name, tag, atMs, version) }
  }

  function remove({ id, precondition }: WriteOf<'delete'>): PlantWriteOutcome {
    const found = find(id)
    if (found === undefined) return { outcome: 'absent' }
    if (!preconditionHolds(precondition, found.version)) return { outcome: 'mismatch' }
    statements.deletePlant.run(id)
    unindexed.note(id)
    return { outcome: 'deleted' }
  }

  return { insert, create, replace, update: change, remove }
}

function findPlant(selectPlant: StatementSync, id: bigint): StoredPlant | undefined {
  const row = selectPlant.get(id)
  // node:sqlite does not know what a statement gives: these are the columns of a plant.
  return row === undefined ? undefined : rowToPlant(row as unknown as PlantRow)
}

function plantOf(
  id: bigint,
  name: string,
  tag: string | null,
  times: Pick<StoredPlant, 'createdAtMs' | 'updatedAtMs' | 'version'>,
): StoredPlant {
  return tag === null ? { id, name, ...times } : { id, name, tag, ...times }
}

function prepareStatements(database: DatabaseSync) {
  const prepare = (sql: string) => {
    const statement = database.prepare(sql)
    // `run` reports the last rowid, which is any int64 here and throws where it is no safe number.
    statement.setReadBigInts(true)
    return statement
  }
  const selectPlant = prepare(`SELECT ${PLANT_COLUMNS} FROM plants WHERE id = ?`)
  selectPlant.setReturnArrays(true)
  return {
    selectPlant,
    insertPlant: prepare(
      `INSERT INTO plants (${PLANT_COLUMNS}) VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT DO NOTHING`,
    ),
    updatePlant: prepare(
      'UPDATE plants SET name = ?2, tag = ?3, updated_at = ?4, version = ?5 WHERE id = ?1',
    ),
    deletePlant: prepare('DELETE FROM plants WHERE id = ?'),
    selectKey: prepare(
      'SELECT fingerprint, plant_version, created_at FROM idempotency_keys WHERE caller = ? AND key = ?',
    ),
    insertKey: prepare('INSERT OR REPLACE INTO idempotency_keys VALUES (?, ?, ?, ?, ?)'),
  }
}
