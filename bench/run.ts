import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { benchBulk } from './bulk.bench.ts'
import { benchLoad } from './load.bench.ts'
import { describeRun } from './machine.ts'
import { benchMillion } from './million.bench.ts'
import { type BenchOptions, type Engine, LOAD_NAMES, readOptions, USAGE } from './options.ts'
import { benchOverhead } from './overhead.bench.ts'
import { benchOverload } from './overload.bench.ts'
import {
  bulkSection,
  loadSection,
  millionSection,
  overheadSection,
  overloadSection,
  startSection,
  table,
} from './report.ts'
import { benchStart } from './start.bench.ts'
import { INSERT_LOOP, STATEMENT_PER_REQUEST, TWO_REPLICAS } from './start-contenders.ts'
import { installPeers, PEER_REMARKS } from './start-peers.ts'
import { openStores } from './stores.ts'
import { type Reports, targetsTable } from './targets.ts'

const RESULTS_FILES: Record<Engine, string> = { sqlite: 'results.md', postgres: 'results-postgres.md' }

const ENGINE_REMARKS: Record<Engine, Record<string, string>> = {
  sqlite: {
    [INSERT_LOOP]:
      'inserts the same rows into the same table and index, 64 to a commit, WAL, synchronous = FULL, without HTTP: what storage alone costs.',
  },
  postgres: {
    [STATEMENT_PER_REQUEST]:
      'is our service as it is, on a database of the same server, but each create is an INSERT and a commit of its own through a pool of 10 connections: what sharing commits is worth.',
    [TWO_REPLICAS]:
      'are two processes on one database, each with half of the connections; beside them a statement a request in two processes, too. Latencies are those of the slower one.',
  },
}

const INDEX_REMARKS: Record<Engine, string> = {
  sqlite: ` (so the time that our service takes for its search index after a burst of creates is in no other's measurement, nor in its own: see "million")`,
  postgres: '',
}

const options = readOptionsOrExit()
if (options.withPeers && LOAD_NAMES.some((load) => options.only.includes(load))) installPeers()
const workFolder = makeWorkFolder(options.engine)
process.once('exit', () => rmSync(workFolder, { recursive: true, force: true, maxRetries: 3 }))

const stores = await openStores(options.engine, workFolder)
const run = [...describeRun(workFolder), ...stores.about]
const reports: Reports = {
  loads: [],
  million: undefined,
  bulk: undefined,
  start: undefined,
  overhead: undefined,
  overload: undefined,
}
const sections: string[] = []

try {
  for (const load of LOAD_NAMES) {
    if (!options.only.includes(load)) continue
    const report = await benchLoad(load, options, workFolder, stores)
    reports.loads.push(report)
    print(loadSection(report))
  }
  if (options.only.includes('million')) {
    reports.million = await benchMillion(options, workFolder)
    print(millionSection(reports.million))
  }
  if (options.only.includes('bulk')) {
    reports.bulk = await benchBulk(options, workFolder, stores)
    print(bulkSection(reports.bulk))
  }
  if (options.only.includes('overhead')) {
    reports.overhead = await benchOverhead(options, stores)
    print(overheadSection(reports.overhead))
  }
  if (options.only.includes('overload')) {
    reports.overload = await benchOverload(options, stores)
    print(overloadSection(reports.overload))
  }
  if (options.only.includes('start')) {
    reports.start = await benchStart(workFolder)
    print(startSection(reports.start))
  }
} finally {
  await stores.close()
}
const targets = targetsTable(reports)
if (targets !== '') console.log(`## Targets\n\n${targets}\n`)
if (options.write)
  writeFileSync(new URL(RESULTS_FILES[options.engine], import.meta.url), resultsPage(options))

/** Each section as soon as it is known: a run takes minutes. */
function print(section: string): void {
  sections.push(section)
  console.log(`${section}\n`)
}

function resultsPage(options: BenchOptions): string {
  const { rounds, seconds } = options
  const parts = [
    '# What the bench measured',
    `Written by \`npm run bench -- --write\`. Each load runs for ${seconds} s on one contender after the other, ${rounds} rounds of it; a ratio is the median of the ratios of the rounds, with the smallest and the largest. Every contender is a process of its own with 10,000 plants in it, warmed up first, and each waits until the one before has nothing more to do${INDEX_REMARKS[options.engine]}. One response that is not 2xx ends the run.`,
    table([['', 'this run'], ...run]),
    ...(targets === '' ? [] : ['## Targets', targets]),
    ...(reports.loads.length === 0 ? [] : ['## Beside what', contenderRemarks(options)]),
    ...sections,
  ]
  return `${parts.join('\n\n')}\n`
}

function contenderRemarks({ engine, withPeers }: BenchOptions): string {
  const remarks: Record<string, string> = {
    'node:http echo':
      'reads the whole body and responds with it, and a get with a constant body as long as ours: what HTTP alone costs in Node.',
    ...ENGINE_REMARKS[engine],
    ...(withPeers ? PEER_REMARKS : {}),
  }
  return Object.entries(remarks)
    .map(([name, remark]) => `- **${name}** ${remark}`)
    .join('\n')
}

function readOptionsOrExit(): BenchOptions {
  try {
    const read = readOptions(process.argv.slice(2))
    if (read !== 'help') return read
    process.stdout.write(USAGE)
    process.exit(0)
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n\n${USAGE}`)
    process.exit(2)
  }
}

/**
 * On the disk that holds the clone: the system's temporary folder is often in memory, where an fsync costs
 * nothing. PostgreSQL has its data there all the same, since its user may not enter a home (TMPDIR moves it).
 */
function makeWorkFolder(engine: Engine): string {
  if (engine === 'postgres') return mkdtempSync(join(tmpdir(), 'plantstore-bench-'))
  const parent = fileURLToPath(new URL('../data/', import.meta.url))
  mkdirSync(parent, { recursive: true })
  return mkdtempSync(join(parent, 'bench-'))
}
