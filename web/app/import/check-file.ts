import type { ImportFileOptions, ImportReport } from '../../../src/client/plant-store-client.ts'
import { isWide } from '../../../src/plants/import/table-dialect.ts'
import type { Session } from '../session/session.ts'
import { failureOfWholeFile, ofWholeFile } from './file-lines.ts'
import { createImportRun, type ImportAnnouncement, NOTHING_ANNOUNCED } from './import-run.ts'
import { type ImportSettings, importOptions, isNumbered, rolesOf } from './import-settings.ts'
import { type ImportSource, previewRows, readSource } from './import-source.ts'
import { type RowsStart, sliceRows } from './row-slices.ts'
import { uploadFetch } from './upload-fetch.ts'

export interface CheckOptions {
  session: Session
  source: ImportSource
  settings: ImportSettings
  signal: AbortSignal
  /** Called with the share of the file that was sent. */
  onShare(share: number): void
}

/** What would become of the rows. */
export interface CheckReport extends ImportReport {
  /** Whether rows were not found whose ids came earlier in the file. */
  isInSlices: boolean
}

/**
 * Checks a file in one request, for only so are rows found whose ids came earlier in it; in slices where one would have
 * to hold the whole text in memory. Lines are those of the file. Throws as the client does.
 */
export async function checkFile(parts: CheckOptions): Promise<CheckReport> {
  const { session, signal, onShare } = parts
  const whole = await wholeBody(parts)
  if (whole === undefined) return checkInSlices(parts)
  const { body, options, linesBefore } = whole
  try {
    const client = session.clientOver(uploadFetch(onShare))
    const report = await client.importPlants(body, { ...options, dryRun: true, signal })
    const errors = report.errors.map((error) => ofWholeFile(error, linesBefore))
    return { ...report, errors, isInSlices: false }
  } catch (error) {
    throw failureOfWholeFile(error, linesBefore)
  }
}

async function checkInSlices({
  session,
  source,
  settings,
  signal,
  onShare,
}: CheckOptions): Promise<CheckReport> {
  let told: ImportAnnouncement = NOTHING_ANNOUNCED
  const run = createImportRun({
    ...{ client: session.client, source, settings, dryRun: true },
    onChange(change) {
      told = change
      onShare(change.bytes / source.file.size)
    },
  })
  signal.addEventListener('abort', run.abort)
  const end = await run.go()
  signal.throwIfAborted()
  if (end.is === 'failed') throw end.error
  const { created, replaced, skipped, failed, errors } = told
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
  options: ImportFileOptions
  /** How many lines of the file are not in the body. */
  linesBefore: number
}

/**
 * The file as it is, wherever that says the same; otherwise without its header row. Undefined where that cannot be cut
 * off a file on disk.
 */
async function wholeBody({ source, settings }: CheckOptions): Promise<WholeBody | undefined> {
  const { file, format, isGzip } = source
  const { encoding, hasHeader, roles } = settings
  const options = importOptions(format, settings)
  const asItIs = {
    ...options,
    gzip: isGzip,
    encoding: format === 'csv' && encoding !== 'utf-8' ? encoding : undefined,
  }
  // Only tables are decoded by the service.
  if (format === 'ndjson' && isWide(encoding)) return undefined
  if (format === 'ndjson' || !hasHeader) return { body: file, options: asItIs, linesBefore: 0 }
  const named = rolesOf(previewRows(source, encoding)[0] ?? [])
  if (named.length === roles.length && named.every((role, at) => role === roles[at])) {
    return { body: file, options: { ...asItIs, columns: undefined }, linesBefore: 0 }
  }
  if (isGzip || isWide(encoding)) return undefined
  const { bytes = 0, lines: linesBefore = 0 } = (await startOf(source, settings)) ?? {}
  return { body: file.slice(bytes), options, linesBefore }
}

/** What is before the rows; undefined where there are none. */
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
