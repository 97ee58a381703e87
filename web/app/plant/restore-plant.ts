import type { PlantStoreClient, StoredPlant } from '../../../src/client/plant-store-client.ts'

/** Stores a deleted plant again with all of its content, unless its id is used by now: then it fails with 41201. */
export async function restorePlant(
  client: Pick<PlantStoreClient, 'replacePlant'>,
  deleted: StoredPlant,
): Promise<void> {
  await client.replacePlant(deleted.id, deleted, { ifNoneMatch: '*' })
}
