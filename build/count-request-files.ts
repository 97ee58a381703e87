// Lists the source files whose functions run on the main thread for one POST /plants, from the parsed request to the
// response, by V8's precise coverage: npm run request-path
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { request } from 'node:http'
import { Session } from 'node:inspector/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import pino from 'pino'
import { readConfig } from '../src/config/read-config.ts'
import { serve } from '../src/serve.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
/** Requests before those that are counted: what runs once only, such as reading a token, is done by then. */
const WARM_UP_REQUESTS = 20
/** A timer may run beside one request, but hardly beside each of these. */
const COUNTED_REQUESTS = 5

/** The mechanics of every server, whatever its requests do: each with the reason why it is omitted. */
const MECHANICS: readonly [prefix: string, reason: string][] = [
  ['src/http/server/', 'HTTP connections and pipelining'],
  ['src/http/connections/', 'connections: limits, slow readers, addresses'],
  ['src/load/', 'load: event loop slices and load shedding'],
  ['src/storage/batching/commit-lag.ts', 'load: how late commits are'],
  ['src/http/request-log.ts', 'request log'],
  ['src/http/request/request-id.ts', 'request log'],
  ['src/http/request/request-stages.ts', 'tracing: the stages of a request'],
  ['src/http/routes/health-routes.ts', 'health: the outcome of each commit'],
  ['src/metrics/', 'metrics'],
  ['src/tracing/', 'tracing'],
]

export interface RequestFiles {
  /** The files of a create, from the root. */
  files: string[]
  mechanics: { file: string; reason: string }[]
}

/** Runs a service on SQLite, creates plants in it and sees which files each create runs. */
export async function countRequestFiles(): Promise<RequestFiles> {
  const folder = mkdtempSync(join(tmpdir(), 'plantstore-request-path-'))
  const token = 'token-of-the-request-path'
  const environment = {
    PLANTSTORE_PORT: '0',
    PLANTSTORE_DATABASE: join(folder, 'plants.db'),
    PLANTSTORE_FIXED_TOKEN: token,
  }
  const service = await serve(readConfig({}, environment), pino({ level: 'silent' }))
  const session = new Session()
  session.connect()
  try {
    let id = 0
    const create = () => createPlant(new URL('/plants', service.url), token, ++id)
    for (let done = 0; done < WARM_UP_REQUESTS; done++) await create()
    await session.post('Profiler.enable')
    await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
    let common: Set<string> | undefined
    for (let done = 0; done < COUNTED_REQUESTS; done++) {
      await session.post('Profiler.takePreciseCoverage')
      await create()
      const found = executedFiles((await session.post('Profiler.takePreciseCoverage')).result)
      common = common === undefined ? found : new Set([...found].filter((file) => common?.has(file)))
    }
    return sortOut(common ?? new Set())
  } finally {
    session.disconnect()
    await service.stop()
    rmSync(folder, { recursive: true })
  }
}

async function createPlant(url: URL, token: string, id: number): Promise<void> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const sending = request(url, { method: 'POST', headers })
  sending.end(JSON.stringify({ id, name: 'Quercus robur', tag: 'tree' }))
  const [response] = await once(sending, 'response')
  response.resume()
  await once(response, 'end')
  if (response.statusCode !== 200) throw new Error(`the create failed with ${response.statusCode}`)
}

interface ScriptCoverage {
  url: string
  functions: { ranges: { count: number }[] }[]
}

function executedFiles(scripts: readonly ScriptCoverage[]): Set<string> {
  const executed = scripts.filter(({ functions }) =>
    functions.some(({ ranges }) => (ranges[0]?.count ?? 0) > 0),
  )
  const paths = executed
    .filter(({ url }) => url.startsWith('file:'))
    .map(({ url }) => relative(ROOT, fileURLToPath(url)))
  return new Set(paths.filter((path) => path.startsWith('src/')))
}

function sortOut(found: ReadonlySet<string>): RequestFiles {
  const files: string[] = []
  const mechanics: RequestFiles['mechanics'] = []
  for (const file of [...found].sort()) {
    const [, reason] = MECHANICS.find(([prefix]) => file.startsWith(prefix)) ?? []
    if (reason === undefined) files.push(file)
    else mechanics.push({ file, reason })
  }
  return { files, mechanics }
}

if (import.meta.main) {
  const { files, mechanics } = await countRequestFiles()
  const lines = [
    `A plain create runs ${files.length} files:`,
    ...files.map((file) => `  ${file}`),
    'and of the mechanics of the server:',
    ...mechanics.map(({ file, reason }) => `  ${file} (${reason})`),
  ]
  process.stdout.write(`${lines.join('\n')}\n`)
}
