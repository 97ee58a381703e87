import type { BulkReport } from './bulk.bench.ts'
import type { LoadReport } from './load.bench.ts'
import type { MillionReport } from './million.bench.ts'
import type { LoadName } from './options.ts'
import type { OverheadReport } from './overhead.bench.ts'
import {
  OVERLOAD_CONNECTIONS,
  OVERLOAD_FACTOR,
  type OverloadReport,
  type OverloadRound,
  PROBE_P99_MS_MAX,
} from './overload.bench.ts'
import type { StartReport } from './start.bench.ts'
import { medianOf, p99Of, ratiosOf, type Spread, spreadOf } from './statistics.ts'

const LOAD_MEANINGS: Record<LoadName, string> = {
  create: 'POST /plants, each with an id of its own and a tag; responded when the plant is on disk.',
  get: 'GET /plants/{id} of one of 10,000 plants, at random.',
  list: 'GET /plants, a page of 100 of 10,000 plants from a random place on.',
  mixed: '80 % gets, 15 % creates, 5 % pages of 100, shuffled.',
}

/** The part of the report on one load, in Markdown. */
export function loadSection({ load, contenders, residentMb }: LoadReport): string {
  const ours = contenders[0]?.rounds.map(({ perSecond }) => perSecond) ?? []
  const rows = contenders.map(({ name, rounds }, at) => {
    const perSecond = rounds.map((round) => round.perSecond)
    return [
      name,
      whole(medianOf(perSecond)),
      at === 0 ? '' : ratioText(ratiosOf(ours, perSecond)),
      milliseconds(medianOf(rounds.map(({ p50Ms }) => p50Ms))),
      milliseconds(medianOf(rounds.map(({ p99Ms }) => p99Ms))),
      milliseconds(Math.max(...rounds.map(({ p99Ms }) => p99Ms))),
      '0',
    ]
  })
  const head = ['', 'a second', 'ours / it (min–max)', 'p50 ms', 'p99 ms', 'worst p99 ms', 'errors']
  return section(
    load,
    LOAD_MEANINGS[load],
    [head, ...rows],
    `Resident memory of our service after the last round: ${whole(residentMb)} MB.`,
  )
}

/** The part of the report on a million plants. */
export function millionSection(report: MillionReport): string {
  const { plants, fillSeconds, indexSeconds, bytesPerPlant, residentMb } = report
  const timed = (name: string, times: number[]) => {
    const { median, min, max } = spreadOf(times)
    return [name, milliseconds(median), `${milliseconds(min)}–${milliseconds(max)}`]
  }
  const facts = [
    ['', 'measured'],
    ['creates a second while filling', whole(plants / fillSeconds)],
    ['search index up to date after the last create', `${indexSeconds.toFixed(1)} s`],
    ['file, bytes a plant', whole(bytesPerPlant)],
    ['resident memory after the last create', `${whole(residentMb.afterFill)} MB`],
    ['resident memory after the reads below', `${whole(residentMb.afterReads)} MB`],
    ['resident memory at its highest', `${whole(residentMb.peak)} MB`],
  ]
  const times = [
    ['', 'median ms', 'min–max'],
    timed('first page of 100', report.firstPageMs),
    timed('last page of 100', report.lastPageMs),
    ...report.searches.map(({ kind, share, milliseconds }) =>
      timed(`search for ${kind} (${share})`, milliseconds),
    ),
    timed('GET /tags', report.tagsMs),
  ]
  return section(
    'million',
    `${whole(plants)} plants stored over HTTP through 64 connections by one running service, which then responds one request at a time; the first and the last page in turn.`,
    facts,
    table(times),
  )
}

/** The part of the report on import and export. */
export function bulkSection({ plants, engine, rounds }: BulkReport): string {
  const floor = engine === 'sqlite' ? 'SQLite insert loop, 1,000 rows a commit' : 'COPY into the same table'
  const rates = (name: string, values: number[]) => {
    const { median, min, max } = spreadOf(values)
    return [name, `${whole(median)} (${whole(min)}–${whole(max)})`]
  }
  const floorRates = rounds.map(({ floorRate }) => floorRate)
  const importRates = rounds.map(({ importRate }) => importRate)
  const single = rounds.map(({ singleMs }) => singleMs)
  return section(
    'bulk',
    `${whole(plants)} plants imported as NDJSON in one request into an empty store, and exported again; each round on new stores. Rows a second; median, with the smallest and the largest.`,
    [
      ['', 'measured'],
      rates('import', importRates),
      rates(floor, floorRates),
      ['import / it', ratioText(ratiosOf(importRates, floorRates))],
      rates(
        'export as NDJSON',
        rounds.map(({ exportRates }) => exportRates.ndjson),
      ),
      rates(
        'export as CSV',
        rounds.map(({ exportRates }) => exportRates.csv),
      ),
      [
        'search index up to date after the import',
        `${medianOf(rounds.map(({ indexSeconds }) => indexSeconds)).toFixed(1)} s`,
      ],
      [
        'resident memory at its highest, export included',
        `${whole(Math.max(...rounds.map(({ peakMb }) => peakMb)))} MB`,
      ],
      rates(
        'import while 4 connections create single plants',
        rounds.map(({ busyImportRate }) => busyImportRate),
      ),
      ['those creates: p50 ms', milliseconds(medianOf(single.map(medianOf)))],
      ['those creates: p99 ms', milliseconds(medianOf(single.map(p99Of)))],
      [
        'those creates: slowest ms',
        milliseconds(Math.max(...single.map((times) => times.reduce((a, b) => Math.max(a, b), 0)))),
      ],
    ],
  )
}

/** The part of the report on what it costs to watch the service. */
export function overheadSection({ variants }: OverheadReport): string {
  const bare = variants[0]?.rounds.map(({ perSecond }) => perSecond) ?? []
  const rows = variants.map(({ name, rounds }, at) => {
    const perSecond = rounds.map((round) => round.perSecond)
    return [
      name,
      whole(medianOf(perSecond)),
      at === 0 ? '' : ratioText(ratiosOf(perSecond, bare)),
      milliseconds(medianOf(rounds.map(({ p99Ms }) => p99Ms))),
    ]
  })
  const head = ['', 'creates a second', 'it / unwatched (min–max)', 'p99 ms']
  return section('overhead', `${LOAD_MEANINGS.create} In turn, on stores of their own.`, [head, ...rows])
}

/** The part of the report on more creates than the service can do. */
export function overloadSection({ rounds }: OverloadReport): string {
  const row = (name: string, measured: (round: OverloadRound) => number, text = whole) => {
    // A round in which nothing was rejected has no time of it.
    const values = rounds.map(measured).filter((value) => !Number.isNaN(value))
    if (values.length === 0) return [name, '–', '']
    const { median, min, max } = spreadOf(values)
    return [name, text(median), `${text(min)}–${text(max)}`]
  }
  return section(
    'overload',
    `POST /plants at ${OVERLOAD_FACTOR} times the capacity, at fixed times whatever gets a response, over ${whole(OVERLOAD_CONNECTIONS)} connections with one running request on each. What comes due while no connection is free is not sent. Times count from sending. The capacity is what 64 connections get that each send when they got a response, in the same round; the generator shares the processors of the service.`,
    [
      ['', 'median', 'min–max'],
      row('capacity, a second', ({ capacity }) => capacity),
      row('rejected meanwhile, in all', ({ rejectedBelow }) => rejectedBelow),
      row('offered, a second', ({ offered }) => offered),
      row('not sent: every connection waits, a second', ({ offered, sent }) => offered - sent),
      row('sent, a second', ({ sent }) => sent),
      row('accepted, a second', ({ accepted }) => accepted),
      row(
        'accepted / capacity',
        ({ accepted, capacity }) => accepted / capacity,
        (share) => share.toFixed(2),
      ),
      row('accepted: p50 ms', ({ acceptedP50Ms }) => acceptedP50Ms, milliseconds),
      row('accepted: p99 ms', ({ acceptedP99Ms }) => acceptedP99Ms, milliseconds),
      row('rejected with 50301, a second', ({ rejected }) => rejected),
      row('rejected: p99 ms', ({ rejectedP99Ms }) => rejectedP99Ms, milliseconds),
      row('anything else, in all', ({ otherwise }) => otherwise),
      row('resident memory before, MB', ({ memoryMb }) => memoryMb.before),
      row('resident memory at its highest, MB', ({ memoryMb }) => memoryMb.peak),
      row('resident memory after, MB', ({ memoryMb }) => memoryMb.after),
      row(
        `half the capacity is accepted again with p99 < ${PROBE_P99_MS_MAX} ms after, s`,
        ({ normalAfterSeconds }) => normalAfterSeconds,
        (seconds) => seconds.toFixed(1),
      ),
    ],
  )
}

/** The part of the report on starts. */
export function startSection({ milliseconds: times, plants }: StartReport): string {
  const { median, min, max } = spreadOf(times)
  return section(
    'start',
    `From the start of the process (serve, on a store of ${whole(plants)} plants) to the first 200 of POST /plants.`,
    [
      ['', 'median ms', 'min–max'],
      [`${times.length} starts`, whole(median), `${whole(min)}–${whole(max)}`],
    ],
  )
}

/** A section: what was measured, the numbers, and what else is to be said. */
function section(title: string, meaning: string, rows: string[][], after = ''): string {
  return [`## ${title}`, meaning, table(rows), after].filter((part) => part !== '').join('\n\n')
}

/** A Markdown table, padded so that it reads well as text too. The first row is its head. */
export function table(rows: string[][]): string {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(3, ...rows.map((row) => (row[column] ?? '').length)),
  )
  const lines = rows.map((row) => line(row.map((cell, column) => cell.padEnd(widths[column] ?? 0))))
  return [lines[0], line(widths.map((width) => '-'.repeat(width))), ...lines.slice(1)].join('\n')
}

function line(cells: string[]): string {
  return `| ${cells.join(' | ')} |`
}

export function ratioText({ median, min, max }: Spread): string {
  const text = (value: number) => (value < 100 ? value.toFixed(2) : whole(value))
  return `${text(median)} (${text(min)}–${text(max)})`
}

export function whole(value: number): string {
  return Number.isNaN(value) ? '–' : Math.round(value).toLocaleString('en')
}

function milliseconds(value: number): string {
  return Number.isNaN(value) ? '–' : value.toFixed(2)
}
