import type { ImportFileOptions, ImportReport } from '../../../src/client/plant-store-client.ts'
import { isWide } from '../../../src/plants/import/table-dialect.ts'
import type { Session } from '../session/session.ts'
import { withFileLine, withFileLines } from './file-lines.ts'
import { type RowsStart, sliceRows } from './row-slices.ts'
import { createImportRun, type ImportStatus, INITIAL_STATUS } from './run.ts'
import { type ImportSettings, isNumbered, optionsOf, rolesOf } from './settings.ts'
import { type ImportSource, previewRows, readSource } from './source.ts'
import { uploadFetch } from './upload-fetch.ts'

export interface CheckOptions {
  session: Session
  source: ImportSource
  settings: ImportSettings
  signal: AbortSignal
  /** Called with the share of the file that was sent, from 0 to 1. */
  onShare(share: number): void
}

/** What an import would do with the rows. */
export interface CheckReport extends ImportReport {
  /** Whether repeated ids within the file were not found. */
  isInSlices: boolean
}

/**
 * Checks a file in one request, because only that finds repeated ids. Checks it in slices if one request would need the
 * whole text in memory. Line numbers are those of the file. Throws the errors of the client.
 */
export async function checkFile(options: CheckOptions): Promise<CheckReport> {
  const { session, signal, onShare } = options
  const whole = await wholeBody(options)
  if (whole === undefined) return checkInSlices(options)
  const { body, importOptions, linesBefore } = whole
  try {
    const client = session.clientOver(uploadFetch(onShare))
    const report = await client.importPlants(body, { ...importOptions, dryRun: true, signal })
    const errors = report.errors.map((error) => withFileLine(error, linesBefore))
    return { ...report, errors, isInSlices: false }
  } catch (error) {
    throw withFileLines(error, linesBefore)
  }
}

async function checkInSlices({
  session,
  source,
  settings,
  signal,
  onShare,
}: CheckOptions): Promise<CheckReport> {
  let status: ImportStatus = INITIAL_STATUS
  const run = createImportRun({
    ...{ client: session.client, source, settings, dryRun: true },
    onChange(change) {
      status = change
      onShare(change.bytes / source.file.size)
    },
  })
  signal.addEventListener('abort', run.abort)
  const end = await run.resume()
  signal.throwIfAborted()
  if (end.is === 'failed') throw end.error
  const { created, replaced, skipped, failed, errors } = status
  return {
    created,
    replaced,
    skipped,
    failed,
    errors: [...errors],
    isInSlices: !isNumbered(source.format, settings),
  }
}

interface WholeBody {
  body: Blob
  importOptions: ImportFileOptions
  /** The number of lines of the file before the body. */
  linesBefore: number
}

/**
 * The body of a check: the unchanged file if its header row means what the settings say, otherwise the file without its
 * header row. Undefined if that row cannot be removed without reading the whole file.
 */
async function wholeBody({ source, settings }: CheckOptions): Promise<WholeBody | undefined> {
  const { file, format, isGzip } = source
  const { encoding, hasHeader, roles } = settings
  const options = optionsOf(source, settings)
  const unchanged = {
    ...options,
    gzip: isGzip,
    encoding: format === 'csv' && encoding !== 'utf-8' ? encoding : undefined,
  }
  // The service decodes only tables, and UTF-16 only of unchanged ones.
  if (source.isArray || source.delimiter !== ',') return undefined
  if (format === 'ndjson' && isWide(encoding)) return undefined
  if (format === 'ndjson' || !hasHeader) return { body: file, importOptions: unchanged, linesBefore: 0 }
  const named = rolesOf(previewRows(source, encoding)[0] ?? [])
  if (named.length === roles.length && named.every((role, at) => role === roles[at])) {
    return { body: file, importOptions: { ...unchanged, columns: undefined }, linesBefore: 0 }
  }
  if (isGzip || isWide(encoding)) return undefined
  const { bytes = 0, lines: linesBefore = 0 } = (await startOf(source, settings)) ?? {}
  return { body: file.slice(bytes), importOptions: options, linesBefore }
}

/** The part before the rows; undefined if there are no rows. */
async function startOf(source: ImportSource, { encoding }: ImportSettings): Promise<RowsStart | undefined> {
  let start: RowsStart | undefined
  const text = readSource(source, encoding, () => {})
  const onStart = (found: RowsStart) => {
    start = found
  }
  const slices = sliceRows(text, { format: source.format, hasHeader: true, onStart })
  await slices.next()
  await slices.return()
  return start
}
