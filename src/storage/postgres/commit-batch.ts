import type { StoredPlant } from '../../plants/plant.ts'
import { PLANT_COLUMNS, type PlantRow, rowToPlant } from '../plant-rows.ts'
import {
  CREATED,
  type ImportWrite,
  KEPT,
  newPlantOf,
  newPlantsOf,
  type PlantWrite,
  type PlantWriteOutcome,
  type WriteOf,
} from '../plant-write.ts'
import { inTransaction } from './in-transaction.ts'
import { idsAsArray, insertPlants, updatePlants } from './insert-plants.ts'
import { judgeBatch, keyOf, type NewKey } from './judge-batch.ts'
import type { Sql, Transaction } from './postgres-client.ts'
import { ConcurrentChange } from './postgres-failure.ts'

const LOCK = `SELECT ${PLANT_COLUMNS} FROM plants WHERE id = ANY($1::bigint[]) ORDER BY id FOR UPDATE`
const DELETE = 'DELETE FROM plants WHERE id = ANY($1::bigint[])'

/**
 * Performs a batch in its order and commits it, each operation judged on its own. What only adds where an id is
 * free is inserted as it is; anything else locks what it is about, judges it, and writes the end of it.
 */
export async function commitBatch(
  sql: Sql,
  batch: readonly PlantWrite[],
  idempotencyTtlMs: number,
): Promise<PlantWriteOutcome[]> {
  if (batch.every(isAddition)) return addAll(sql, batch)
  return inTransaction(sql, (transaction) => commitJudged(transaction, batch, idempotencyTtlMs))
}

type Addition = WriteOf<'create'> | ImportWrite

function isAddition(write: PlantWrite): write is Addition {
  if (write.kind === 'import') return !write.replacesTaken
  return write.kind === 'create' && write.idempotency === undefined
}

async function addAll(sql: Sql, batch: readonly Addition[]): Promise<PlantWriteOutcome[]> {
  const free = await insertPlants(
    sql,
    batch.flatMap((write) => (write.kind === 'import' ? newPlantsOf(write) : newPlantOf(write))),
  )
  return batch.map((write) => {
    if (write.kind === 'create') {
      return free.delete(write.id) ? { outcome: 'created', version: write.version } : { outcome: 'taken' }
    }
    // Through an array: the numbers of this one would be bigints.
    const codes = Uint8Array.from([...write.ids], (id) => (free.delete(id) ? CREATED : KEPT))
    return { outcome: 'imported', codes }
  })
}

async function commitJudged(
  transaction: Transaction,
  batch: readonly PlantWrite[],
  idempotencyTtlMs: number,
): Promise<PlantWriteOutcome[]> {
  const stored = await lockPlants(transaction, batch)
  const keys = await findKeys(transaction, batch, idempotencyTtlMs)
  const { outcomes, written, newKeys } = judgeBatch(batch, stored, keys)
  const added: StoredPlant[] = []
  const updated: StoredPlant[] = []
  const removed: bigint[] = []
  for (const [id, plant] of written) {
    if (plant !== undefined) (stored.has(id) ? updated : added).push(plant)
    else if (stored.has(id)) removed.push(id)
  }
  if (updated.length > 0) await updatePlants(transaction, updated)
  if (removed.length > 0) await transaction.unsafe(DELETE, [idsAsArray(removed)], { prepare: true })
  // What was not there could not be locked.
  if (added.length > 0 && (await insertPlants(transaction, added)).size < added.length) {
    throw new ConcurrentChange('an id was taken meanwhile')
  }
  await storeKeys(transaction, newKeys, idempotencyTtlMs)
  return outcomes
}

/** In the order of the ids, as two replicas that lock the same ones in other orders would lock each other out. */
async function lockPlants(
  transaction: Transaction,
  batch: readonly PlantWrite[],
): Promise<Map<bigint, StoredPlant>> {
  const ids = batch.flatMap((write) => (write.kind === 'import' ? [...write.ids] : write.id))
  const rows = await transaction.unsafe(LOCK, [idsAsArray(new Set(ids))], { prepare: true }).values()
  return new Map(rows.map((row) => [row[0] as bigint, rowToPlant(row as unknown as PlantRow)]))
}

async function findKeys(transaction: Transaction, batch: readonly PlantWrite[], idempotencyTtlMs: number) {
  const found = await Promise.all(
    batch.map(async (write) => {
      if (write.kind !== 'create' || write.idempotency === undefined) return undefined
      const { caller, key } = write.idempotency
      const [known] = await transaction<{ fingerprint: string; plant_version: bigint }[]>`
        SELECT fingerprint, plant_version FROM idempotency_keys
        WHERE caller = ${caller} AND key = ${key} AND created_at >= ${write.atMs - idempotencyTtlMs}`
      if (known === undefined) return undefined
      const { fingerprint, plant_version } = known
      return [keyOf(write.idempotency), { fingerprint, version: Number(plant_version) }] as const
    }),
  )
  return new Map(found.filter((one) => one !== undefined))
}

/** Stores the keys, each over one that is past its time and in an order that all replicas keep. */
async function storeKeys(transaction: Transaction, newKeys: readonly NewKey[], idempotencyTtlMs: number) {
  const ordered = [...newKeys].sort((one, other) =>
    keyOf(one.idempotency) < keyOf(other.idempotency) ? -1 : 1,
  )
  const stored = await Promise.all(
    ordered.map(
      ({ idempotency: { caller, key, fingerprint }, version, atMs }) => transaction`
        INSERT INTO idempotency_keys (caller, key, fingerprint, plant_version, created_at)
        VALUES (${caller}, ${key}, ${fingerprint}, ${version}, ${atMs})
        ON CONFLICT (caller, key) DO UPDATE SET fingerprint = excluded.fingerprint,
          plant_version = excluded.plant_version, created_at = excluded.created_at
        WHERE idempotency_keys.created_at < ${atMs - idempotencyTtlMs}`,
    ),
  )
  if (stored.some(({ count }) => count === 0)) throw new ConcurrentChange('a key was used meanwhile')
}
