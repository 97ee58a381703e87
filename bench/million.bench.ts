import { statSync } from 'node:fs'
import { join } from 'node:path'
import { type Connection, connect } from './connection.ts'
import { fill, newFolder, TOKEN } from './contender.ts'
import type { BenchOptions } from './options.ts'
import { namedPlantJson, SEARCHES } from './plant-names.ts'
import { residentMb } from './processes.ts'
import { untilFound } from './search-index.ts'
import { startService } from './start-contenders.ts'

const PAGE_ROUNDS = 300
const WARM_UP_ROUNDS = 50
const SLOW_ROUNDS = 30

/** A word that only the plant stored last has. */
const LAST_WORD = 'ultima'

export interface MillionReport {
  plants: number
  fillSeconds: number
  /** From the response to the last create until a search finds that plant. */
  indexSeconds: number
  bytesPerPlant: number
  residentMb: { afterFill: number; afterReads: number; peak: number }
  firstPageMs: number[]
  lastPageMs: number[]
  searches: { kind: string; share: string; milliseconds: number[] }[]
  tagsMs: number[]
}

/** Fills a running service over HTTP, and asks that same process what a large store makes slow elsewhere. */
export async function benchMillion({ plants }: BenchOptions, workFolder: string): Promise<MillionReport> {
  const file = join(newFolder(workFolder), 'plants.db')
  const server = await startService(file)
  try {
    process.stderr.write(`million: storing ${plants} plants\n`)
    const startMs = performance.now()
    await fill(server.url, plantBodies(plants - 1))
    const connection = await connect(server.url, TOKEN)
    const last = JSON.stringify({ id: plants, name: 'Thule ultima', tag: 'tree' })
    await expectOk(connection.request('POST', '/plants', last))
    const filledMs = performance.now()
    const afterFill = residentMb(server.pid).now
    await untilFound(connection, LAST_WORD)
    const indexedMs = performance.now()

    process.stderr.write('million: reading\n')
    const pages = await timeAlternately(
      connection,
      ['/plants?limit=100', `/plants?limit=100&after=${plants - 100}`],
      PAGE_ROUNDS,
    )
    const searches = []
    for (const { kind, query, share } of SEARCHES) {
      const path = `/plants?${new URLSearchParams({ q: query })}`
      searches.push({
        kind,
        share,
        milliseconds: (await timeAlternately(connection, [path], SLOW_ROUNDS))[0] ?? [],
      })
    }
    const tagsMs = (await timeAlternately(connection, ['/tags'], SLOW_ROUNDS))[0] ?? []
    const { now: afterReads, peak } = residentMb(server.pid)
    connection.close()
    await server.stop()
    return {
      plants,
      fillSeconds: (filledMs - startMs) / 1000,
      indexSeconds: (indexedMs - filledMs) / 1000,
      bytesPerPlant: statSync(file).size / plants,
      residentMb: { afterFill, afterReads, peak },
      firstPageMs: pages[0] ?? [],
      lastPageMs: pages[1] ?? [],
      searches,
      tagsMs,
    }
  } finally {
    await server.stop()
  }
}

function* plantBodies(count: number): Generator<string, void, undefined> {
  for (let number = 1; number <= count; number++) yield namedPlantJson(number)
}

/** Times each path in turn, one request at a time; the warm-up is omitted. A list of milliseconds a path. */
async function timeAlternately(connection: Connection, paths: string[], rounds: number): Promise<number[][]> {
  const times: number[][] = paths.map(() => [])
  const warmUpRounds = Math.min(WARM_UP_ROUNDS, rounds)
  for (let round = -warmUpRounds; round < rounds; round++) {
    for (const [at, path] of paths.entries()) {
      const startMs = performance.now()
      const body = await expectOk(connection.request('GET', path))
      if (round >= 0) times[at]?.push(performance.now() - startMs)
      if (body === '[]') throw new Error(`${path} found nothing.`)
    }
  }
  return times
}

async function expectOk(response: ReturnType<Connection['request']>): Promise<string> {
  const { status, body } = await response
  if (status !== 200) throw new Error(`The response has status ${status}: ${body}`)
  return body
}
