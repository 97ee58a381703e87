import { isDeepStrictEqual } from 'node:util'
import { SetupError } from '../errors.ts'
import type { StoredPlant } from '../plants/plant.ts'
import type { PlantStore } from '../plants/plant-store.ts'
import type { HashedToken, Storage, StorageDump } from './storage.ts'

/** Plants in a chunk, which is one commit; the bytes of a page are limited as well. */
const CHUNK_PLANTS = 512

/** Idempotency keys in a chunk. */
const CHUNK_KEYS = 512

export interface CopyOptions {
  from: Storage
  to: Storage
  /** Called after each chunk with the plants copied so far, then with the plants compared so far. */
  onProgress?(step: 'copied' | 'compared', plants: number): void
}

export interface CopyReport {
  plants: number
  tokens: number
  idempotencyKeys: number
}

/**
 * Copies everything in `from` to `to`, then compares all plants and tokens. What `to` has already is skipped, so an
 * interrupted copy is completed by another one. Throws a SetupError that names the first difference.
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

/** Copies idempotency keys, so that a create can be retried on the copy. */
async function copyKeys(from: StorageDump, to: StorageDump): Promise<number> {
  let copied = 0
  let keys = await from.keys(CHUNK_KEYS)
  while (keys.length > 0) {
    await to.addKeys(keys)
    copied += keys.length
    keys = await from.keys(CHUNK_KEYS, keys.at(-1))
  }
  return copied
}

function compareTokens(from: readonly HashedToken[], to: readonly HashedToken[]): void {
  const ids = new Set(from.map(({ token }) => token.id))
  const others = to.map(({ token }) => token.id).filter((id) => !ids.has(id))
  if (others.length > 0) {
    throw new SetupError(
      `The target has tokens of its own (${others.join(', ')}): revoke them there ("plantstore token revoke"), then copy again.`,
    )
  }
  if (!isDeepStrictEqual(to, from)) {
    throw new SetupError(
      'The tokens differ: one was used, changed or revoked during the copy. Copy to a new database.',
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
        `The copy differs at plant ${plant.id}: the target had plants of its own, or one was written during the copy.`,
      )
    }
    compared++
    if (compared % CHUNK_PLANTS === 0) onProgress(compared)
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
    const page = await plants.list({ limit: CHUNK_PLANTS, ...(afterId !== undefined && { afterId }) })
    if (page.plants.length > 0) yield page.plants
    afterId = page.plants.at(-1)?.id
    if (!page.hasMore) return undefined
  }
}
