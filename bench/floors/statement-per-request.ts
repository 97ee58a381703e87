import type { AddressInfo } from 'node:net'
import postgres from 'postgres'
import { buildApp } from '../../src/app.ts'
import { readConfig } from '../../src/config/read-config.ts'
import { createLog } from '../../src/log.ts'
import { generateVersion } from '../../src/plants/plant.ts'
import type { PlantStore } from '../../src/plants/plant-store.ts'
import { openStorage } from '../../src/storage/open-storage.ts'
import { wordsAsVector } from '../../src/storage/postgres/commit/insert-plants.ts'

// The floor for shared commits: the service as it is, but for creates, each of which is a statement and a commit
// of its own in a pool of connections, as services on PostgreSQL usually do it. PLANTSTORE_DATABASE and
// PLANTSTORE_FIXED_TOKEN are its settings.

/** As many as our service has for everything but its commits. */
const CONNECTIONS = 10

const config = readConfig({}, process.env)
const storage = await openStorage(config.database, config)
const sql = postgres(config.database, { max: CONNECTIONS, types: { bigint: postgres.BigInt } })

const create: PlantStore['create'] = async ({ id, name, tag = null }) => {
  const atMs = Date.now()
  const version = generateVersion()
  const { count } = await sql`
    INSERT INTO plants (id, name, tag, created_at, updated_at, version, words)
    VALUES (${id}, ${name}, ${tag}, ${atMs}, ${atMs}, ${version}, ${wordsAsVector(name)})
    ON CONFLICT DO NOTHING`
  return count === 1 ? { outcome: 'created', version } : { outcome: 'taken' }
}

const app = await buildApp({
  version: 'floor',
  storage: { ...storage, plants: { ...storage.plants, create } },
  log: await createLog(config.logLevel, process.stderr),
  fixedToken: config.fixedToken,
  limits: config,
  isDraining: () => false,
})
await app.listen({ host: '127.0.0.1', port: 0 })
console.log(`A statement a request is at http://127.0.0.1:${(app.server.address() as AddressInfo).port}`)
