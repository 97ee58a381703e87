import { join } from 'node:path'
import { type Lifetime, startApp, temporaryFolder } from '../support/http/start-app.ts'
import { runPlantstore } from '../support/process/plantstore-process.ts'
import { runCommand } from './run-command.ts'

/** A user without files here, for tests that run as root. */
export const NOBODY = 65_534

/** A service whose store `plants.db` has a plant, and `run` for commands in its folder; as another user in a process. */
export async function startStore(test: Lifetime) {
  const folder = temporaryFolder(test)
  const at = (name: string) => join(folder, name)
  const app = await startApp(test, { PLANTSTORE_DATABASE: at('plants.db') })
  await app.send('POST', '/plants', '{"id":1,"name":"Rosa canina"}')
  const run = (words: string[], uid?: number) =>
    uid === undefined ? runCommand(test, words, { folder }) : runPlantstore(test, words, { folder, uid })
  return { folder, at, app, run }
}
