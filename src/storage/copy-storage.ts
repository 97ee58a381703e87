import { isDeepStrictEqual } from 'node:util'
import { SetupError } from '../errors.ts'
import type { StoredPlant } from '../plants/plant.ts'
import type { PlantStore } from '../plants/plant-store.ts'
import type { HashedToken, Storage, StorageDump } from './storage.ts'

/** Plants that are moved at once: each step is a commit, and a page is bounded in bytes as well. */
const STEP_PLANTS = 512

/** Idempotency keys that are moved at once. */
const STEP_KEYS = 512

export interface CopyOptions {
  from: Storage
  to: Storage
  /** Told after each step how many plants were sent, and then, in the same way, how many were compared. */
  onProgress?(step: 'copied' | 'compared', plants: number): void
}

export interface CopyReport {
  plants: number
  tokens: number
  idempotencyKeys: number
}

/**
 * Adds everything that is in `from` to `to`, then holds every plant and token of one against the other. What
 * is there already is left as it is, so a copy that broke off is finished by another one. Throws a SetupError
 * that names the first difference.
 */
export async function copyStorage({ from, to, onProgress }: CopyOptions): Promise<CopyReport> {
  const tokens = await from.dump.tokens()
  await to.dump.addTokens(tokens)
  let copied = 0
  for await (const plants of pagesOf(from.plants)) {
    await to.dump.addPlants(plants)
    copied += plants.length
    onProgress?.('copied', copied)
  }
  const idempotencyKeys = await copyKeys(from.dump, to.dump)
  compareTokens(tokens, await to.dump.tokens())
  await comparePlants(from.plants, to.plants, (plants) => onProgress?.('compared', plants))
  return { plants: copied, tokens: tokens.length, idempotencyKeys }
}

/** Copies idempotency keys, so that a create that is sent again to the new store finds what it made. */
async function copyKeys(from: StorageDump, to: StorageDump): Promise<number> {
  let copied = 0
  let keys = await from.keys(STEP_KEYS)
  while (keys.length > 0) {
    await to.addKeys(keys)
    copied += keys.length
    keys = await from.keys(STEP_KEYS, keys.at(-1))
  }
  return copied
}

function compareTokens(from: readonly HashedToken[], to: readonly HashedToken[]): void {
  const ids = new Set(from.map(({ token }) => token.id))
  const others = to.map(({ token }) => token.id).filter((id) => !ids.has(id))
  if (others.length > 0) {
    throw new SetupError(
      `The target has tokens of its own (${others.join(', ')}): end them there ("plantstore token revoke"), then copy again.`,
    )
  }
  if (!isDeepStrictEqual(to, from)) {
    throw new SetupError(
      'The tokens of the two stores differ: one was used, changed or revoked meanwhile. Copy to a new store.',
    )
  }
}

async function comparePlants(
  from: PlantStore,
  to: PlantStore,
  onProgress: (plants: number) => void,
): Promise<void> {
  const others = plantsOf(to)
  let compared = 0
  for await (const plant of plantsOf(from)) {
    const { value: other } = await others.next()
    if (!isDeepStrictEqual(plant, other)) {
      throw new SetupError(
        `The stores differ at plant ${plant.id}: the target had plants of its own, or one was written meanwhile.`,
      )
    }
    compared++
    if (compared % STEP_PLANTS === 0) onProgress(compared)
  }
  const { value: other } = await others.next()
  if (other !== undefined) throw new SetupError(`The target has a plant ${other.id} that the source lacks.`)
}

async function* plantsOf(plants: PlantStore): AsyncGenerator<StoredPlant, undefined> {
  for await (const page of pagesOf(plants)) yield* page
  return undefined
}

async function* pagesOf(plants: PlantStore): AsyncGenerator<StoredPlant[], undefined> {
  let afterId: bigint | undefined
  for (;;) {
    const page = await plants.list({ limit: STEP_PLANTS, ...(afterId !== undefined && { afterId }) })
    if (page.plants.length > 0) yield page.plants
    afterId = page.plants.at(-1)?.id
    if (!page.hasMore) return undefined
  }
}
