import { readConfig } from '../../src/config/read-config.ts'
import { openStorage } from '../../src/storage/open-storage.ts'
import { emptyDatabase, type Lifetime, type StartedApp, startApp } from '../support/http/start-app.ts'

export const DAY_MS = 86_400_000

export interface AddedPlant {
  id: bigint
  name: string
  tag?: string
  /** When it was added, in milliseconds since 1970. */
  addedMs: number
}

/** Runs the service over plants that were added at these times, in milliseconds since 1970; their ids are 1, 2, …. */
export async function startWithPlantsAddedAt(
  test: Lifetime,
  timesMs: readonly number[],
): Promise<StartedApp> {
  return startWithPlants(
    test,
    timesMs.map((addedMs, at) => ({ id: BigInt(at + 1), name: `Rosa ${at + 1}`, addedMs })),
  )
}

/** Runs the service over these plants, as if they had been added when they say. */
export async function startWithPlants(test: Lifetime, plants: readonly AddedPlant[]): Promise<StartedApp> {
  const database = await emptyDatabase(test)
  const storage = await openStorage(database, readConfig({}, {}))
  await storage.dump.addPlants(
    plants.map(({ addedMs, ...plant }, at) => ({
      ...plant,
      createdAtMs: addedMs,
      updatedAtMs: addedMs,
      version: at + 1,
    })),
  )
  await storage.close()
  return startApp(test, { PLANTSTORE_DATABASE: database })
}
