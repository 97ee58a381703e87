import type { ImportFileOptions, ImportReport } from '../../../src/client/plant-store-client.ts'
import { isWide } from '../../../src/plants/import/table-dialect.ts'
import type { Session } from '../session/session.ts'
import { withFileLine, withFileLines } from './file-lines.ts'
import { type RowsStart, sliceRows } from './row-slices.ts'
import { createImportRun, type ImportStatus, INITIAL_STATUS } from './run.ts'
import { type ImportSettings, isNumbered, optionsOf, rolesOf } from './settings.ts'
import { type ImportSource, isConverted, previewRows, readSource } from './source.ts'
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

/** A blank line. */
const NO_ROWS = '\n'
/** A longer converted text is checked in slices: it would take too much memory. */
const CONVERTED_BYTES_MAX = 64 * 1024 * 1024

/**
 * Checks a file in one request, because only that finds repeated ids. A long text that must be converted is checked in
 * slices. Line numbers are those of the file. Throws the errors of the client.
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
 * The body of a check: the unchanged file if its header row means what the settings say, otherwise the text without its
 * header row. Undefined if the text would have to be converted and is too long for that.
 */
async function wholeBody(options: CheckOptions): Promise<WholeBody | undefined> {
  const { source, settings } = options
  const importOptions = optionsOf(source, settings)
  const hasHeader = source.format === 'csv' && settings.hasHeader
  if (canSendUnchanged(source, settings)) {
    const { encoding } = settings
    const unchanged = {
      ...importOptions,
      gzip: source.isGzip,
      encoding: source.format === 'csv' && encoding !== 'utf-8' ? encoding : undefined,
      ...(hasHeader && { columns: undefined }),
    }
    return { body: source.file, importOptions: unchanged, linesBefore: 0 }
  }
  const isFileRead = !source.isGzip && !isConverted(source, settings)
  const text = isFileRead ? source.file : await convertedText(options)
  if (text === undefined) return undefined
  const { bytes, lines } = hasHeader ? await startOf(source, settings) : { bytes: 0, lines: 0 }
  const rows = text.slice(bytes)
  // Without a byte, the service responds that the body is missing.
  return { body: rows.size === 0 ? new Blob([NO_ROWS]) : rows, importOptions, linesBefore: lines }
}

/** Whether the service reads the file as the settings say. */
function canSendUnchanged(source: ImportSource, settings: ImportSettings): boolean {
  const { hasHeader, roles, encoding, delimiter } = settings
  if (source.isArray || delimiter !== ',') return false
  // The service decodes only tables.
  if (source.format === 'ndjson') return !isWide(encoding)
  if (!hasHeader) return true
  const named = rolesOf(previewRows(source, settings)[0] ?? [])
  return named.length === roles.length && named.every((role, at) => role === roles[at])
}

/** The decompressed and converted text; undefined if it is longer than CONVERTED_BYTES_MAX. */
async function convertedText({ source, settings, signal }: CheckOptions): Promise<Blob | undefined> {
  const reader = readSource(source, settings, () => {}).getReader()
  const parts: BlobPart[] = []
  let bytes = 0
  try {
    for (;;) {
      const { done, value } = await reader.read()
      signal.throwIfAborted()
      if (done) return new Blob(parts)
      bytes += value.length
      if (bytes > CONVERTED_BYTES_MAX) return undefined
      parts.push(value)
    }
  } finally {
    reader.cancel().catch(() => undefined)
  }
}

/** The part before the rows. */
async function startOf(source: ImportSource, settings: ImportSettings) {
  let start: Pick<RowsStart, 'bytes' | 'lines'> = { bytes: 0, lines: 0 }
  const text = readSource(source, settings, () => {})
  const onStart = (found: RowsStart) => {
    start = found
  }
  const slices = sliceRows(text, { format: source.format, hasHeader: true, onStart })
  await slices.next()
  await slices.return()
  return start
}
