import type { BulkReport } from './bulk.bench.ts'
import type { LoadReport } from './load.bench.ts'
import type { MillionReport } from './million.bench.ts'
import type { OverheadReport } from './overhead.bench.ts'
import type { OverloadReport } from './overload.bench.ts'
import { ratioText, table, whole } from './report.ts'
import type { StartReport } from './start.bench.ts'
import {
  ECHO,
  INSERT_LOOP,
  OURS,
  STATEMENT_PER_REQUEST,
  STATEMENT_PER_REQUEST_TWICE,
  TWO_REPLICAS,
} from './start-contenders.ts'
import { medianOf, p99Of, ratiosOf } from './statistics.ts'

const CREATE_RATIO_MIN = 0.75
/** What shared commits must be worth on PostgreSQL. */
const STATEMENT_RATIO_MIN = 2.5
const CREATE_P99_MS_MAX = 10
const GET_RATIO_MIN = 0.7
const RESIDENT_MB_MAX = 200
/** Two reads of equal cost differ by less than this from run to run. */
const LAST_PAGE_RATIO_MAX = 1.1
const START_MS_MAX = 500
/** Of the creates of a service that nothing watches. */
const WATCHED_RATIO_MIN = 0.95
const BULK_ROWS_MIN = 250_000
const IMPORT_RATIO_MIN = 0.25
const IMPORT_INDEX_SECONDS_MAX = 10
const IMPORT_RESIDENT_MB_MAX = 250
/** Of single creates while an import runs. */
const SINGLE_P99_MS_MAX = 50

const OVERLOAD_ACCEPTED_P99_MS_MAX = 250
const OVERLOAD_REJECTED_P99_MS_MAX = 50
/** What may come on top of the memory that the service had before the overload. */
const OVERLOAD_MEMORY_RATIO_MAX = 1.25
const OVERLOAD_NORMAL_SECONDS_MAX = 2

export interface Reports {
  loads: LoadReport[]
  million: MillionReport | undefined
  bulk: BulkReport | undefined
  start: StartReport | undefined
  overhead: OverheadReport | undefined
  overload: OverloadReport | undefined
}

/** What we promise ourselves beside what this run showed, the missed ones as well. */
export function targetsTable({ loads, million, bulk, start, overhead, overload }: Reports): string {
  const rows = [
    ...createTargets(loads.find(({ load }) => load === 'create')),
    ...getTargets(loads.find(({ load }) => load === 'get')),
    ...millionTargets(million),
    ...bulkTargets(bulk),
    ...startTargets(start),
    ...overheadTargets(overhead),
    ...overloadTargets(overload),
  ]
  return rows.length === 0 ? '' : table([['', 'target', 'measured', ''], ...rows])
}

function createTargets(report: LoadReport | undefined): string[][] {
  if (report === undefined) return []
  const p99Ms = medianOf(report.contenders[0]?.rounds.map((round) => round.p99Ms) ?? [])
  return [
    ...(isOnPostgres(report)
      ? [
          ratioTarget('create: times', STATEMENT_PER_REQUEST, report, STATEMENT_RATIO_MIN),
          // Together they are held against the same, and against as many processes of it.
          ...[STATEMENT_PER_REQUEST, STATEMENT_PER_REQUEST_TWICE].map((other) =>
            ratioTarget('create, two replicas: times', other, report, STATEMENT_RATIO_MIN, TWO_REPLICAS),
          ),
        ]
      : [ratioTarget('create: share of the', ECHO, report, CREATE_RATIO_MIN)]),
    target('create: p99', `< ${CREATE_P99_MS_MAX} ms`, `${p99Ms.toFixed(2)} ms`, p99Ms < CREATE_P99_MS_MAX),
  ]
}

function getTargets(report: LoadReport | undefined): string[][] {
  // On PostgreSQL a get asks another process, and takes as long as that takes.
  if (report === undefined || isOnPostgres(report)) return []
  return [ratioTarget('get: share of the', ECHO, report, GET_RATIO_MIN)]
}

function isOnPostgres({ contenders }: LoadReport): boolean {
  return contenders.some(({ name }) => name === STATEMENT_PER_REQUEST)
}

/** What `ours`, the service itself unless another one is named, reached of `other`. */
function ratioTarget(
  about: string,
  other: string,
  { contenders }: LoadReport,
  ratioMin: number,
  ours: string = OURS,
): string[] {
  const perSecond = (name: string) =>
    contenders.find((one) => one.name === name)?.rounds.map((round) => round.perSecond) ?? []
  const ratios = ratiosOf(perSecond(ours), perSecond(other))
  return target(`${about} ${other}`, `≥ ${ratioMin.toFixed(2)}`, ratioText(ratios), ratios.median >= ratioMin)
}

function millionTargets(report: MillionReport | undefined): string[][] {
  if (report === undefined) return []
  const { plants, residentMb, firstPageMs, lastPageMs } = report
  const pageRatio = medianOf(lastPageMs) / medianOf(firstPageMs)
  return [
    target(
      `memory with ${whole(plants)} plants`,
      `< ${RESIDENT_MB_MAX} MB`,
      `${whole(residentMb.afterReads)} MB`,
      residentMb.afterReads < RESIDENT_MB_MAX && residentMb.afterFill < RESIDENT_MB_MAX,
    ),
    target(
      'last page / first page, time',
      `≤ ${LAST_PAGE_RATIO_MAX}`,
      pageRatio.toFixed(2),
      pageRatio <= LAST_PAGE_RATIO_MAX,
    ),
  ]
}

function bulkTargets(report: BulkReport | undefined): string[][] {
  // On PostgreSQL the figures stand by themselves, beside COPY.
  if (report === undefined || report.engine === 'postgres') return []
  const { rounds } = report
  const rateTarget = (name: string, rates: number[]) => {
    const median = medianOf(rates)
    return target(name, `≥ ${whole(BULK_ROWS_MIN)}/s`, `${whole(median)}/s`, median >= BULK_ROWS_MIN)
  }
  const floorRatios = ratiosOf(
    rounds.map(({ importRate }) => importRate),
    rounds.map(({ floorRate }) => floorRate),
  )
  const indexSeconds = medianOf(rounds.map((round) => round.indexSeconds))
  const peakMb = Math.max(...rounds.map((round) => round.peakMb))
  const singleMs = medianOf(rounds.map((round) => p99Of(round.singleMs)))
  return [
    rateTarget(
      'import, rows',
      rounds.map(({ importRate }) => importRate),
    ),
    target(
      `import: share of the ${INSERT_LOOP}`,
      `≥ ${IMPORT_RATIO_MIN.toFixed(2)}`,
      ratioText(floorRatios),
      floorRatios.median >= IMPORT_RATIO_MIN,
    ),
    target(
      'import: search index up to date after',
      `< ${IMPORT_INDEX_SECONDS_MAX} s`,
      `${indexSeconds.toFixed(1)} s`,
      indexSeconds < IMPORT_INDEX_SECONDS_MAX,
    ),
    target(
      'import and export: memory at its highest',
      `< ${IMPORT_RESIDENT_MB_MAX} MB`,
      `${whole(peakMb)} MB`,
      peakMb < IMPORT_RESIDENT_MB_MAX,
    ),
    target(
      'single creates during an import: p99',
      `< ${SINGLE_P99_MS_MAX} ms`,
      `${singleMs.toFixed(2)} ms`,
      singleMs < SINGLE_P99_MS_MAX,
    ),
    rateTarget(
      'export as NDJSON, rows',
      rounds.map(({ exportRates }) => exportRates.ndjson),
    ),
    rateTarget(
      'export as CSV, rows',
      rounds.map(({ exportRates }) => exportRates.csv),
    ),
  ]
}

function startTargets(report: StartReport | undefined): string[][] {
  if (report === undefined) return []
  const median = medianOf(report.milliseconds)
  return [target('start to first 200', `< ${START_MS_MAX} ms`, `${whole(median)} ms`, median < START_MS_MAX)]
}

function overheadTargets(report: OverheadReport | undefined): string[][] {
  const [bare, ...watched] = report?.variants ?? []
  return watched.map(({ name, rounds }) => {
    const perSecond = (those: OverheadReport['variants'][number]['rounds']) =>
      those.map((one) => one.perSecond)
    const ratios = ratiosOf(perSecond(rounds), perSecond(bare?.rounds ?? []))
    const isMet = ratios.median >= WATCHED_RATIO_MIN
    return target(
      `creates of ${name}: share of the unwatched`,
      `≥ ${WATCHED_RATIO_MIN}`,
      ratioText(ratios),
      isMet,
    )
  })
}

function overloadTargets(report: OverloadReport | undefined): string[][] {
  if (report === undefined) return []
  const { rounds } = report
  const medianMs = (name: string, times: number[], maxMs: number) => {
    // A round in which nothing was rejected has no time of it.
    const ms = medianOf(times.filter((time) => !Number.isNaN(time)))
    const measured = Number.isNaN(ms) ? 'none' : `${ms.toFixed(2)} ms`
    return target(`overload: ${name}`, `< ${maxMs} ms`, measured, Number.isNaN(ms) || ms < maxMs)
  }
  const memoryRatio = Math.max(...rounds.map(({ memoryMb }) => memoryMb.after / memoryMb.before))
  const normalSeconds = Math.max(...rounds.map(({ normalAfterSeconds }) => normalAfterSeconds))
  return [
    medianMs(
      'accepted, p99',
      rounds.map(({ acceptedP99Ms }) => acceptedP99Ms),
      OVERLOAD_ACCEPTED_P99_MS_MAX,
    ),
    medianMs(
      'rejected, p99',
      rounds.map(({ rejectedP99Ms }) => rejectedP99Ms),
      OVERLOAD_REJECTED_P99_MS_MAX,
    ),
    target(
      'overload: memory after / before, worst round',
      `≤ ${OVERLOAD_MEMORY_RATIO_MAX}`,
      memoryRatio.toFixed(2),
      memoryRatio <= OVERLOAD_MEMORY_RATIO_MAX,
    ),
    target(
      'overload: normal again, worst round',
      `≤ ${OVERLOAD_NORMAL_SECONDS_MAX} s`,
      `${normalSeconds.toFixed(1)} s`,
      normalSeconds <= OVERLOAD_NORMAL_SECONDS_MAX,
    ),
  ]
}

function target(name: string, wanted: string, measured: string, isMet: boolean): string[] {
  return [name, wanted, measured, isMet ? 'met' : '**missed**']
}
