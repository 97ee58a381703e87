import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { connect } from './connection.ts'
import { type Contender, newFolder, seedBodies, TOKEN } from './contender.ts'
import { type RunningServer, runToEnd, startServer } from './processes.ts'
import type { Stores } from './stores.ts'

/** The name of our service in every table. */
export const OURS = 'plantstore'
export const ECHO = 'node:http echo'
export const INSERT_LOOP = 'SQLite insert loop'
export const STATEMENT_PER_REQUEST = 'a statement a request'
export const TWO_REPLICAS = 'plantstore, two replicas'
export const STATEMENT_PER_REQUEST_TWICE = 'a statement a request, two replicas'

/** As `npm start` starts it. */
const NODE_FLAGS = ['--max-semi-space-size=4']

/** What comes before a number of plants to skip, at our service. */
export const PAGE_PATH = '/plants?limit=100&after='

/** Starts our service on the store that `database` names, with other settings than the defaults by their variables. */
export function startService(
  database: string,
  settings: Record<string, string> = {},
): Promise<RunningServer> {
  return startServer({
    args: [...NODE_FLAGS, pathOf('../src/cli/main.ts'), 'serve'],
    env: {
      MALLOC_ARENA_MAX: '2',
      PLANTSTORE_PORT: '0',
      PLANTSTORE_FIXED_TOKEN: TOKEN,
      PLANTSTORE_DATABASE: database,
      ...settings,
    },
  })
}

/** Gives our service the plants that each contender holds before a load begins, in a request: it need not be timed. */
export async function seed(url: string): Promise<void> {
  const response = await fetch(`${url}/plants/import`, {
    method: 'POST',
    headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/x-ndjson' },
    body: [...seedBodies()].join('\n'),
  })
  if (response.status !== 200) throw new Error(`${url} rejected the plants: ${await response.text()}`)
}

/** Our service as a contender, with the seeded plants in it. */
export async function startOurs(stores: Stores): Promise<Contender> {
  const server = await startService(await stores.make())
  await seed(server.url)
  return { ...server, name: OURS, pagePath: PAGE_PATH }
}

/** The echo, responding a get with as many bytes as ours does. */
export async function startEcho(ours: Contender): Promise<Contender> {
  const connection = await connect(ours.url, TOKEN)
  const sizes: string[] = []
  for (const path of ['/plants/5000', `${PAGE_PATH}5000`]) {
    sizes.push(String(Buffer.byteLength((await connection.request('GET', path)).body)))
  }
  connection.close()
  const server = await startServer({ args: [pathOf('floors/echo.ts'), ...sizes] })
  return { ...server, name: ECHO, pagePath: PAGE_PATH }
}

/** Two replicas of our service on one database, with the seeded plants in it. */
export async function startTwoReplicas(stores: Stores): Promise<Contender> {
  return inPairs(TWO_REPLICAS, await stores.make(), startService)
}

/** Our service with creates that share no commits, on PostgreSQL, with the seeded plants in it. */
export async function startStatementPerRequest(stores: Stores): Promise<Contender> {
  const server = await startStatementService(await stores.make())
  await seed(server.url)
  return { ...server, name: STATEMENT_PER_REQUEST, pagePath: PAGE_PATH }
}

/** The same, as two replicas on one database. */
export async function startStatementPerRequestTwice(stores: Stores): Promise<Contender> {
  return inPairs(STATEMENT_PER_REQUEST_TWICE, await stores.make(), startStatementService)
}

function startStatementService(database: string): Promise<RunningServer> {
  return startServer({
    // The second flag is set by our service itself.
    args: [...NODE_FLAGS, '--no-allocation-site-pretenuring', pathOf('floors/statement-per-request.ts')],
    env: { MALLOC_ARENA_MAX: '2', PLANTSTORE_FIXED_TOKEN: TOKEN, PLANTSTORE_DATABASE: database },
  })
}

async function inPairs(
  name: string,
  database: string,
  start: (database: string) => Promise<RunningServer>,
): Promise<Contender> {
  const first = await start(database)
  const second = await start(database)
  await seed(first.url)
  return {
    ...first,
    name,
    otherUrls: [second.url],
    pagePath: PAGE_PATH,
    async stop() {
      await Promise.all([first.stop(), second.stop()])
    },
  }
}

/** Runs the bare insert loop on a new file; rows a second. */
export async function measureInsertLoop(
  workFolder: string,
  seconds: number,
  rowsPerCommit: number,
): Promise<number> {
  const file = join(newFolder(workFolder), 'plants.db')
  const parameters = [file, String(seconds), String(rowsPerCommit)]
  return Number(await runToEnd({ args: [pathOf('floors/insert-loop.ts'), ...parameters] }))
}

/** Copies plants into the tables of our service on PostgreSQL; rows a second. */
export async function measureCopy(database: string, plants: number): Promise<number> {
  // It makes the tables.
  await (await startService(database)).stop()
  return Number(await runToEnd({ args: [pathOf('floors/copy-in.ts'), database, String(plants)] }))
}

function pathOf(relative: string): string {
  return fileURLToPath(new URL(relative, import.meta.url))
}
