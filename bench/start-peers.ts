import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, statSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Contender, fill, newFolder, seedBodies, TOKEN } from './contender.ts'
import { startServer } from './processes.ts'

const PEERS_FOLDER = fileURLToPath(new URL('peers/', import.meta.url))

/** What a reader of the numbers must know of each peer: what it does not do, or does otherwise. */
export const PEER_REMARKS = {
  'express + zod + better-sqlite3':
    'checks the token, validates, and commits each create by itself (WAL, synchronous = FULL) in the thread that responds. Ids beyond 2⁵³ are rejected; no search, no idempotency keys, no stored tokens, no preconditions.',
  'json-server 0.17':
    'checks neither token nor body and responds before anything is on disk (no fsync): its plants are in memory, found by looking at each one, and the whole file is rewritten after a create. Run with --quiet, without --watch. Ids beyond 2⁵³ are rounded.',
} as const

/** Installs the peers when they are not there yet, or others than the lock file says. */
export function installPeers(): void {
  const lock = join(PEERS_FOLDER, 'package-lock.json')
  const installed = join(PEERS_FOLDER, 'node_modules/.package-lock.json')
  if (existsSync(installed) && statSync(installed).mtimeMs >= statSync(lock).mtimeMs) return
  process.stderr.write('Installing the peers into bench/peers (--no-peers does without) …\n')
  // better-sqlite3 carries its binaries; its script would compile it again.
  execFileSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], {
    cwd: PEERS_FOLDER,
    stdio: ['ignore', 2, 2],
    shell: process.platform === 'win32',
  })
}

/** Starts each peer with the seeded plants in it. */
export async function startPeers(workFolder: string): Promise<Contender[]> {
  return [await startExpress(newFolder(workFolder)), await startJsonServer(newFolder(workFolder))]
}

async function startExpress(folder: string): Promise<Contender> {
  const server = await startServer({
    args: [join(PEERS_FOLDER, 'express-peer.js'), join(folder, 'plants.db')],
    env: { TOKEN },
  })
  await fill(server.url, seedBodies())
  return { ...server, name: 'express + zod + better-sqlite3', pagePath: '/plants?limit=100&after=' }
}

async function startJsonServer(folder: string): Promise<Contender> {
  // It would write its file ten thousand times if it were filled over HTTP.
  const at = new Date().toISOString()
  const plants = [...seedBodies()].map((json) => ({ ...JSON.parse(json), createdAt: at, updatedAt: at }))
  writeFileSync(join(folder, 'db.json'), JSON.stringify({ plants }))
  const port = await freePort()
  const server = await startServer({
    args: [
      join(PEERS_FOLDER, 'node_modules/json-server/lib/cli/bin.js'),
      ...['--quiet', '--host', '127.0.0.1', '--port', String(port), 'db.json'],
    ],
    cwd: folder,
    url: `http://127.0.0.1:${port}`,
  })
  return { ...server, name: 'json-server 0.17', pagePath: '/plants?_limit=100&_start=' }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  return port
}
