import { readConfig } from '../../src/config/read-config.ts'
import { openStorage } from '../../src/storage/open-storage.ts'
import { emptyDatabase, type Lifetime, type StartedApp, startApp } from '../support/http/start-app.ts'

export const DAY_MS = 86_400_000

export interface AddedPlant {
  id: bigint
  name: string
  tag?: string
  /** The time of its creation, in milliseconds since 1970. */
  addedMs: number
}

/** Starts the service with plants created at these times, in milliseconds since 1970. Their ids are 1, 2, …. */
export async function startWithPlantsAddedAt(
  test: Lifetime,
  timesMs: readonly number[],
): Promise<StartedApp> {
  return startWithPlants(
    test,
    timesMs.map((addedMs, at) => ({ id: BigInt(at + 1), name: `Rosa ${at + 1}`, addedMs })),
  )
}

/** Starts the service with these plants, created at their `addedMs`. */
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
