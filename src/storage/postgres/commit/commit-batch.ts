import type { StoredPlant } from '../../../plants/plant.ts'
import { keyOf, type NewKey, planBatch, type StoredKey } from '../../batching/plan-batch.ts'
import {
  CREATED,
  type ImportWrite,
  type ImportWriteOutcome,
  KEPT,
  newPlantOf,
  newPlantsOf,
  type PlantWrite,
  type PlantWriteOutcome,
  REPLACED,
  type SingleWrite,
  type WriteOf,
} from '../../batching/plant-write.ts'
import { PLANT_COLUMNS, type PlantRow, rowToPlant } from '../../plant-columns.ts'
import type { Sql, Transaction } from '../connection/client.ts'
import { ConcurrentChange } from '../connection/failure.ts'
import { inTransaction } from '../connection/in-transaction.ts'
import { insertInBulk, replaceInBulk } from './import-plants.ts'
import { INSERTED_COLUMNS, insertedRowOf, insertPlants, replacePlants } from './insert-plants.ts'

export interface CommitOptions {
  idempotencyTtlMs: number
  /** Whether plants are distributed over a Citus cluster. */
  isSharded: boolean
  /** How long each statement may wait for a lock, instead of the limit of the connection. */
  lockTimeoutMs?: number | undefined
}

/**
 * Commits a batch in order. A batch of plain creates and additions is one statement, which is its own transaction. In
 * any other batch single writes lock their plants, are planned in memory, and the result is written.
 */
export async function commitBatch(
  sql: Sql,
  batch: readonly PlantWrite[],
  { idempotencyTtlMs, isSharded, lockTimeoutMs }: CommitOptions,
): Promise<PlantWriteOutcome[]> {
  const isOneStatement = batch.every((write) => isAddition(write) && !(isSharded && write.kind === 'import'))
  if (lockTimeoutMs === undefined && isOneStatement) return addAll(sql, batch as Addition[], isSharded)
  return inTransaction(sql, async (transaction) => {
    if (lockTimeoutMs !== undefined) {
      await transaction`SELECT set_config('lock_timeout', ${`${lockTimeoutMs}ms`}, true)`
    }
    const outcomes: PlantWriteOutcome[] = []
    let singles: SingleWrite[] = []
    const commitSingles = async () => {
      if (singles.length > 0) outcomes.push(...(await commitPlanned(transaction, singles, idempotencyTtlMs)))
      singles = []
    }
    for (const write of batch) {
      if (write.kind !== 'import') {
        singles.push(write)
        continue
      }
      await commitSingles()
      if (write.replacesTaken) outcomes.push(await replaceAll(transaction, write, isSharded))
      else outcomes.push(...(await addAll(transaction, [write], isSharded)))
    }
    await commitSingles()
    return outcomes
  })
}

/** Sets every column but the id, and the words. */
const UPDATE = `UPDATE plants SET ${INSERTED_COLUMNS.slice(1)
  .map((column, at) => `${column} = $${at + 2}`)
  .join(', ')} WHERE id = $1`

type Addition = WriteOf<'create'> | ImportWrite

function isAddition(write: PlantWrite): write is Addition {
  if (write.kind === 'import') return !write.replacesTaken
  return write.kind === 'create' && write.idempotency === undefined
}

async function addAll(
  sql: Sql | Transaction,
  batch: readonly Addition[],
  isSharded: boolean,
): Promise<PlantWriteOutcome[]> {
  const plants = batch.flatMap((write) => (write.kind === 'import' ? newPlantsOf(write) : newPlantOf(write)))
  const hasImport = batch.some(({ kind }) => kind === 'import')
  const free = await (hasImport && !isSharded ? insertInBulk(sql, plants) : insertPlants(sql, plants))
  return batch.map((write) => {
    if (write.kind === 'create') {
      return free.delete(write.id) ? { outcome: 'created', version: write.version } : { outcome: 'taken' }
    }
    // Through an array: a BigInt64Array maps to bigints only.
    const codes = Uint8Array.from([...write.ids], (id) => (free.delete(id) ? CREATED : KEPT))
    return { outcome: 'imported', codes }
  })
}

/** Writes the plants of a chunk over those whose ids are taken; of several of one id the last stays. */
async function replaceAll(
  transaction: Transaction,
  chunk: ImportWrite,
  isSharded: boolean,
): Promise<ImportWriteOutcome> {
  const byId = new Map(newPlantsOf(chunk).map((plant) => [plant.id, plant]))
  const free = await (isSharded ? replacePlants(transaction, byId) : replaceInBulk(transaction, byId))
  // Through an array: the numbers of this one would be bigints.
  const codes = Uint8Array.from([...chunk.ids], (id) => (free.delete(id) ? CREATED : REPLACED))
  return { outcome: 'imported', codes }
}

async function commitPlanned(
  transaction: Transaction,
  batch: readonly SingleWrite[],
  idempotencyTtlMs: number,
): Promise<PlantWriteOutcome[]> {
  const plants = await lockPlants(transaction, batch)
  const keys = await findKeys(transaction, batch)
  const { outcomes, written, newKeys } = planBatch(batch, { plants, keys, idempotencyTtlMs })
  const added: StoredPlant[] = []
  const writes: Promise<unknown>[] = []
  for (const [id, plant] of [...written].sort(([one], [other]) => (one < other ? -1 : 1))) {
    if (plants.has(id))
      writes.push(plant === undefined ? remove(transaction, id) : update(transaction, plant))
    else if (plant !== undefined) added.push(plant)
  }
  await Promise.all(writes)
  // Rows that did not exist could not be locked.
  if (added.length > 0 && (await insertPlants(transaction, added)).size < added.length) {
    throw new ConcurrentChange('another replica took an id')
  }
  await storeKeys(transaction, newKeys, idempotencyTtlMs)
  return outcomes
}

/** One statement for each plant, all sent at once: on a cluster each goes to the node of its plant. */
async function lockPlants(
  transaction: Transaction,
  batch: readonly SingleWrite[],
): Promise<Map<bigint, StoredPlant>> {
  const ids = [...new Set(batch.map(({ id }) => id))].sort((one, other) => (one < other ? -1 : 1))
  const found = await Promise.all(
    ids.map((id) =>
      transaction
        .unsafe(`SELECT ${PLANT_COLUMNS} FROM plants WHERE id = $1 FOR UPDATE`, [id], { prepare: true })
        .values(),
    ),
  )
  return new Map(found.flat().map((row) => [row[0] as bigint, rowToPlant(row as PlantRow)]))
}

async function findKeys(
  transaction: Transaction,
  batch: readonly SingleWrite[],
): Promise<Map<string, StoredKey>> {
  const found = await Promise.all(
    batch.map(async (write) => {
      if (write.kind !== 'create' || write.idempotency === undefined) return undefined
      const { caller, key } = write.idempotency
      const [row] = await transaction<
        { fingerprint: string; plant_version: bigint; created_at: bigint }[]
      >`SELECT fingerprint, plant_version, created_at FROM idempotency_keys
        WHERE caller = ${caller} AND key = ${key}`
      if (row === undefined) return undefined
      const version = Number(row.plant_version)
      const stored = { fingerprint: row.fingerprint, version, createdAtMs: Number(row.created_at) }
      return [keyOf(write.idempotency), stored] as const
    }),
  )
  return new Map(found.filter((one) => one !== undefined))
}

function update(transaction: Transaction, plant: StoredPlant): Promise<unknown> {
  return transaction.unsafe(UPDATE, insertedRowOf(plant), { prepare: true })
}

function remove(transaction: Transaction, id: bigint): Promise<unknown> {
  return transaction`DELETE FROM plants WHERE id = ${id}`
}

/** Stores the keys over expired ones, in the same order on all replicas, which avoids deadlocks. */
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
  if (stored.some(({ count }) => count === 0)) throw new ConcurrentChange('another replica used a key')
}
