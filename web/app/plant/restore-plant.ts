import type { PlantStoreClient, StoredPlant } from '../../../src/client/plant-store-client.ts'

/** Stores a deleted plant again with all its content. Fails with 41201 if its id is used by now. */
export async function restorePlant(
  client: Pick<PlantStoreClient, 'replacePlant'>,
  deleted: StoredPlant,
): Promise<void> {
  await client.replacePlant(deleted.id, deleted, { ifNoneMatch: '*' })
}
