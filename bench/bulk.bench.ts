import { once } from 'node:events'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { connect } from './connection.ts'
import { newPlantJson, TOKEN, takeIds } from './contender.ts'
import type { BenchOptions, Engine } from './options.ts'
import { namedPlantJson } from './plant-names.ts'
import { residentMb, untilQuiet } from './processes.ts'
import { untilFound } from './search-index.ts'
import { measureCopy, measureInsertLoop, OURS, startService } from './start-contenders.ts'
import type { Stores } from './stores.ts'

/** What an import commits at once, and so does the loop beside it. */
const FLOOR_ROWS_PER_COMMIT = 1_000
const FLOOR_SECONDS = 4
/** Connections that create single plants while an import runs, each one after another. */
const SINGLE_CONNECTIONS = 4
const PIECE_BYTES = 256 * 1024

/** A word that only the plant imported last has. */
const LAST_WORD = 'ultima'

/** What one round showed; rates in rows a second. */
interface BulkRound {
  importRate: number
  /** The same rows into the same table, without HTTP: an insert loop in SQLite, COPY in PostgreSQL. */
  floorRate: number
  /** An import with single creates beside it, and those. */
  busyImportRate: number
  singleMs: number[]
  /** From the report of the import until a search finds the plant imported last. */
  indexSeconds: number
  exportRates: { ndjson: number; csv: number }
  /** Of the service, at its highest, over all of the round. */
  peakMb: number
}

export interface BulkReport {
  plants: number
  engine: Engine
  rounds: BulkRound[]
}

/** Imports a million plants in one request and exports them, each round on new stores. */
export async function benchBulk(
  options: BenchOptions,
  workFolder: string,
  stores: Stores,
): Promise<BulkReport> {
  const { plants, engine } = options
  const chunks = importBody(plants)
  const rounds: BulkRound[] = []
  for (let round = 1; round <= options.rounds; round++) {
    process.stderr.write(`bulk: round ${round} of ${options.rounds}\n`)
    const floorRate =
      engine === 'sqlite'
        ? await measureInsertLoop(workFolder, FLOOR_SECONDS, FLOOR_ROWS_PER_COMMIT)
        : await measureCopy(await stores.make(), plants)
    const alone = await measureAlone(await stores.make(), chunks, plants)
    rounds.push({ floorRate, ...alone, ...(await measureBusy(await stores.make(), chunks, plants)) })
  }
  return { plants, engine, rounds }
}

async function measureAlone(database: string, chunks: Buffer[], plants: number) {
  const server = await startService(database)
  try {
    const startMs = performance.now()
    await importAll(server.url, chunks, plants)
    const importedMs = performance.now()
    const connection = await connect(server.url, TOKEN)
    await untilFound(connection, LAST_WORD)
    const indexSeconds = (performance.now() - importedMs) / 1000
    connection.close()
    await untilQuiet(OURS, server.pid)
    const exportRates = {
      ndjson: await measureExport(server.url, 'application/x-ndjson', plants),
      csv: await measureExport(server.url, 'text/csv', plants + 1),
    }
    const { peak: peakMb } = residentMb(server.pid)
    return { importRate: rate(plants, importedMs - startMs), indexSeconds, exportRates, peakMb }
  } finally {
    await server.stop()
  }
}

async function measureBusy(database: string, chunks: Buffer[], plants: number) {
  const server = await startService(database)
  try {
    let isImporting = true
    const startMs = performance.now()
    const singles = Array.from({ length: SINGLE_CONNECTIONS }, () =>
      createSingly(server.url, () => isImporting),
    )
    await importAll(server.url, chunks, plants)
    const busyImportRate = rate(plants, performance.now() - startMs)
    isImporting = false
    return { busyImportRate, singleMs: (await Promise.all(singles)).flat() }
  } finally {
    await server.stop()
  }
}

/** Creates plants one after another over one connection; how long each took. */
async function createSingly(url: string, isWanted: () => boolean): Promise<number[]> {
  const connection = await connect(url, TOKEN)
  const times: number[] = []
  for (let id = takeIds(); isWanted(); id++) {
    const startMs = performance.now()
    const { status, body } = await connection.request('POST', '/plants', newPlantJson(id))
    if (status !== 200) throw new Error(`A create was rejected with ${status}: ${body}`)
    times.push(performance.now() - startMs)
  }
  connection.close()
  return times
}

async function importAll(url: string, chunks: Buffer[], plants: number): Promise<void> {
  const bytes = chunks.reduce((sum, { length }) => sum + length, 0)
  const request = httpRequest(`${url}/plants/import`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${TOKEN}`,
      'content-type': 'application/x-ndjson',
      'content-length': bytes,
    },
  })
  const responded = once(request, 'response') as Promise<[IncomingMessage]>
  for (const chunk of chunks) {
    if (!request.write(chunk)) await Promise.race([once(request, 'drain'), responded])
  }
  request.end()
  const [response] = await responded
  let text = ''
  for await (const chunk of response.setEncoding('utf8')) text += chunk
  if (response.statusCode !== 200 || (JSON.parse(text) as { created: number }).created !== plants) {
    throw new Error(`The import ended with ${response.statusCode}: ${text.slice(0, 500)}`)
  }
}

/** Reads a whole export; rows a second. Throws unless it has so many lines. */
async function measureExport(url: string, accept: string, lines: number): Promise<number> {
  const startMs = performance.now()
  const request = httpRequest(`${url}/plants`, { headers: { authorization: `Bearer ${TOKEN}`, accept } })
  request.end()
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  let found = 0
  for await (const chunk of response) found += lineEndsIn(chunk as Buffer)
  if (response.statusCode !== 200 || found !== lines) {
    throw new Error(`An export of ${lines} lines had ${found} (${response.statusCode}).`)
  }
  return rate(lines, performance.now() - startMs)
}

function lineEndsIn(chunk: Buffer): number {
  let count = 0
  for (let at = chunk.indexOf(0x0a); at >= 0; at = chunk.indexOf(0x0a, at + 1)) count++
  return count
}

/** The plants as NDJSON, made before anything is timed, in chunks as they are sent. */
function importBody(plants: number): Buffer[] {
  const chunks: Buffer[] = []
  let text = ''
  for (let number = 1; number < plants; number++) {
    text += `${namedPlantJson(number)}\n`
    if (text.length < PIECE_BYTES) continue
    chunks.push(Buffer.from(text))
    text = ''
  }
  chunks.push(
    Buffer.from(`${text}${JSON.stringify({ id: plants, name: `Thule ${LAST_WORD}`, tag: 'tree' })}\n`),
  )
  return chunks
}

function rate(rows: number, milliseconds: number): number {
  return rows / (milliseconds / 1000)
}
