import type { DatabaseSync } from 'node:sqlite'
import type { StoredPlant } from '../../../plants/plant.ts'
import type { Idempotency } from '../../../plants/plant-store.ts'
import { planWrite, type StoredKey, type WritePlan } from '../../batching/plan-batch.ts'
import type { SingleWrite } from '../../batching/plant-write.ts'
import { PLANT_COLUMNS, plantRow, rowToPlant } from '../../plant-columns.ts'
import { prepareExact } from './prepare-exact.ts'
import type { StoredRows } from './stored-rows.ts'

/** Writes of single plants, within the transaction of the caller. */
export function createPlantWrites(database: DatabaseSync, rows: StoredRows, idempotencyTtlMs: number) {
  const selectPlant = prepareExact(database, `SELECT ${PLANT_COLUMNS} FROM plants WHERE id = ?`)
  selectPlant.setReturnArrays(true)
  const selectKey = prepareExact(
    database,
    'SELECT fingerprint, plant_version, created_at FROM idempotency_keys WHERE caller = ? AND key = ?',
  )
  const insertKey = prepareExact(database, 'INSERT OR REPLACE INTO idempotency_keys VALUES (?, ?, ?, ?, ?)')

  function find(id: bigint): StoredPlant | undefined {
    const row = selectPlant.get(id)
    return row === undefined ? undefined : rowToPlant(plantRow(row))
  }

  function findKey({ caller, key }: Idempotency): StoredKey | undefined {
    const row = selectKey.get(caller, key)
    if (row === undefined) return undefined
    return {
      fingerprint: String(row.fingerprint),
      version: Number(row.plant_version),
      createdAtMs: Number(row.created_at),
    }
  }

  /**
   * Plans and performs the write, and returns its outcome. A create is planned as if its id were free, which saves a
   * read: if the insert fails, it is planned again.
   */
  return function writePlant(
    write: SingleWrite,
    found = write.kind === 'create' ? undefined : find(write.id),
  ): WritePlan['outcome'] {
    const idempotency = write.kind === 'create' ? write.idempotency : undefined
    const plan = planWrite(write, {
      plant: found,
      key: idempotency && findKey(idempotency),
      idempotencyTtlMs,
    })
    if (plan.written !== undefined) {
      const { plant } = plan.written
      if (plant === undefined) rows.remove(write.id)
      else if (found !== undefined) rows.update(plant)
      else if (!rows.insert(plant)) return writePlant(write, find(write.id))
    }
    if (plan.newKey !== undefined) {
      const { idempotency, version, atMs } = plan.newKey
      insertKey.run(idempotency.caller, idempotency.key, idempotency.fingerprint, version, atMs)
    }
    return plan.outcome
  }
}
