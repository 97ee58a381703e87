import { withExactId } from './exact-ids.ts'
import { type FileFormat, mediaTypeOf, NDJSON } from './export-plants.ts'
import { bytesOf, type FileSource, importBody, isBrowser, ndjsonOf, type PlantSource } from './import-body.ts'
import type { ImportSlice } from './import-slicer.ts'
import { sliceRows } from './import-slices.ts'
import { addCounts, errorInFile, NO_PROGRESS, rowsWithoutId } from './import-sums.ts'
import type { ImportError, ImportReport } from './plant-types.ts'
import { queryText } from './query-text.ts'
import { orConnectionLost } from './read-lines.ts'
import { asObject, readResponse } from './read-response.ts'
import { amendError, type ImportProgress, RequestError } from './request-error.ts'
import type { CallOptions, Sender, ServiceRequest, ServiceResponse } from './send-request.ts'
import { orAborted } from './time-limit.ts'

/**
 * A failed row; the other rows are stored. For plants that are not a file, `line` is the position of the plant, from
 * 1. `error` is an error code: 40901 for a used id, 40003 for invalid `fields`, …
 */
export interface ImportRowError extends ImportError {}

/**
 * `timeoutMs` limits the time without a byte in either direction, not counting the time that your source takes. In
 * browsers there is no timeout, only `signal`, because they do not report sent bytes.
 */
export interface ImportPlantsOptions extends CallOptions {
  /** A row whose id is already used fails (`fail`, the default), is skipped, or replaces the stored plant. */
  onConflict?: 'fail' | 'skip' | 'replace' | undefined
  /** Reports what an import would do, and stores nothing. */
  dryRun?: boolean | undefined
  /** Called after slices, at most four times a second. Throwing ends the import. Not for a file sent in one request. */
  onProgress?: ((progress: ImportProgress) => void) | undefined
  /** Called for each failed row. Throwing ends the import. For a file sent in one request: for the first 1,000. */
  onError?: ((error: ImportRowError) => void) | undefined
}

export interface ImportFileOptions extends ImportPlantsOptions {
  format: FileFormat
  /** The file is compressed with gzip. */
  gzip?: boolean | undefined
  /** CSV without a header row: the names of its columns. Columns other than id, name and tag are ignored. */
  columns?: readonly string[] | undefined
  /** CSV without ids: numbers the rows from this id. */
  idStart?: bigint | undefined
  /** CSV: the encoding, a label of TextDecoder such as `windows-1252`. Default: UTF-8. */
  encoding?: string | undefined
}

type AnyImportOptions = Omit<ImportFileOptions, 'format'> & { format?: FileFormat | undefined }

/** Errors that a report has. */
const ERRORS_MAX = 1_000
const PROGRESS_MS = 250
const ID_MAX = 2n ** 63n - 1n
/** Encodings in which a byte of another character may look like a line break. */
const NO_SLICES = /^(utf-16|iso-2022)/

/**
 * Imports in slices, one request after the other. A proxy may stop forwarding a body when its response begins, so each
 * response comes after its body. A slice whose response was lost is sent again only if that has the same result.
 */
export async function importPlants(
  sender: Sender,
  source: PlantSource | FileSource,
  options: AnyImportOptions,
): Promise<ImportReport> {
  const { format, dryRun, gzip, encoding, columns } = options
  // Throws for an invalid timeout before the source is read.
  sender.limitTime(options).end()
  const isFile = format !== undefined || isWholeFile(source)
  const mediaType = isFile ? mediaTypeOf(format) : NDJSON
  const file = isFile ? (source as FileSource) : ndjsonOf(source as PlantSource)
  const headers: Record<string, string> = { 'content-type': mediaType }
  if (gzip) headers['content-encoding'] = 'gzip'
  // Only one request finds the repeated ids of a dry run.
  if (dryRun || gzip || NO_SLICES.test(canonicalEncoding(encoding)))
    return importWhole(sender, file, headers, options)
  const slices = sliceRows(bytesOf(file), {
    format: format ?? 'ndjson',
    hasHeader: format === 'csv' && columns === undefined,
  })
  return importSlices(sender, slices, headers, options)
}

/** Whether the source is a file, as it cannot be plants. */
function isWholeFile(source: PlantSource | FileSource): boolean {
  return typeof source === 'string' || source instanceof Blob || source instanceof Uint8Array
}

/** The service rejects an unknown encoding. */
function canonicalEncoding(label = ''): string {
  try {
    return new TextDecoder(label).encoding
  } catch {
    return ''
  }
}

async function importSlices(
  sender: Sender,
  slices: AsyncGenerator<ImportSlice, void, undefined>,
  headers: Record<string, string>,
  options: AnyImportOptions,
): Promise<ImportReport> {
  const { signal, onProgress, onError, onConflict = 'fail' } = options
  let progress = NO_PROGRESS
  let nextId = options.idStart
  let reportedAtMs = Number.NEGATIVE_INFINITY
  const errors: ImportRowError[] = []
  const timeoutMs = isBrowser() ? Number.POSITIVE_INFINITY : options.timeoutMs

  async function send({ body, linesBefore, rowLines }: ImportSlice): Promise<ImportReport> {
    if (nextId !== undefined && nextId > ID_MAX) return rowsWithoutId(rowLines())
    const request = importRequest(headers, body, { ...options, idStart: nextId })
    // Skipped or replaced rows have the same result when they are sent again.
    const retry = onConflict === 'fail' ? 'nothing-stored' : 'always'
    try {
      return await sender.send({ ...request, retry }, (response) => reportOf(response, linesBefore), {
        signal,
        ...(timeoutMs && { timeoutMs }),
      })
    } catch (error) {
      throw errorInFile(error, linesBefore, progress)
    }
  }

  function read() {
    const slice = slices.next()
    // It may fail while nothing awaits it; the next await throws.
    slice.catch(() => undefined)
    return signal ? orAborted(slice, signal) : slice
  }

  try {
    let next = read()
    for (;;) {
      const { done, value: slice } = await next
      if (done) break
      // Reads on while the slice is sent.
      next = read()
      next.catch(() => undefined)
      const { errors: failed, ...counts } = await send(slice)
      if (nextId !== undefined)
        nextId += BigInt(counts.created + counts.replaced + counts.skipped + counts.failed)
      progress = { ...addCounts(progress, counts), line: slice.nextLine }
      errors.push(...failed.slice(0, ERRORS_MAX - errors.length))
      for (const error of failed) onError?.(error)
      if (performance.now() - reportedAtMs < PROGRESS_MS) continue
      reportedAtMs = performance.now()
      onProgress?.(progress)
    }
    const { line: _, ...counts } = progress
    return { ...counts, errors }
  } finally {
    // Not awaited, as it may never settle.
    slices.return().catch(() => undefined)
  }
}

/** Sends a file in one request. */
async function importWhole(
  sender: Sender,
  file: FileSource | AsyncIterable<string>,
  headers: Record<string, string>,
  options: AnyImportOptions,
): Promise<ImportReport> {
  const { dryRun, onError } = options
  const limit = sender.limitTime(options)
  let upload: Awaited<ReturnType<typeof importBody>> | undefined
  let hasResponse = false
  try {
    upload = await importBody(file, limit)
    const request = importRequest(headers, upload.body, options)
    const response = await sender.open({ ...request, retry: 'never' }, limit)
    hasResponse = true
    limit.restart()
    const body = await orConnectionLost(response.body.text(), limit)
    const report = reportOf({ ...response, body }, 0)
    for (const error of report.errors) onError?.(error)
    return report
  } catch (error) {
    const sourceFailure = upload?.failure()
    if (sourceFailure !== undefined) throw sourceFailure.error
    if (!(error instanceof RequestError)) throw error
    throw amendError(error, { isOutcomeUnknown: !dryRun && (hasResponse || error.isOutcomeUnknown) })
  } finally {
    limit.end()
  }
}

function importRequest(
  headers: Record<string, string>,
  body: NonNullable<ServiceRequest['body']>,
  { onConflict, dryRun, columns, idStart, encoding }: AnyImportOptions,
): ServiceRequest {
  const query = queryText({
    string: { onConflict, columns: columns?.join(), encoding },
    bigint: { idStart },
    boolean: { dryRun },
  })
  return { method: 'POST', path: `/plants/import${query}`, headers, body }
}

function reportOf(response: ServiceResponse<string>, linesBefore: number): ImportReport {
  return readResponse(response, (parsed) => {
    const { errors, ...counts } = asObject<ImportReport>(parsed)
    return { ...counts, errors: errors.map((error) => rowErrorOf(error, linesBefore)) }
  })
}

function rowErrorOf(parsed: ImportError, linesBefore: number): ImportRowError {
  const error = parsed.id === undefined ? parsed : (withExactId(parsed) as ImportError)
  return { ...error, line: error.line + linesBefore }
}
