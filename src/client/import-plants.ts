import { withExactId } from './exact-ids.ts'
import { type FileFormat, mediaTypeOf, NDJSON } from './export-plants.ts'
import { type FileSource, importBody, ndjsonOf, type PlantSource } from './import-body.ts'
import type { ImportError, ImportEvent, ImportReport } from './plant-types.ts'
import { queryText } from './query-text.ts'
import { connectionLost, orConnectionLost, readLines } from './read-lines.ts'
import { asObject, readResponse } from './read-response.ts'
import { amendError, type ImportProgress, RequestError } from './request-error.ts'
import { type CallOptions, responseMembers, type Sender, type ServiceResponse } from './send-request.ts'
import type { TimeLimit } from './time-limit.ts'

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
  /** Called after commits, at most four times a second. Throwing ends the import. Not in browsers. */
  onProgress?: ((progress: ImportProgress) => void) | undefined
  /** Called for each failed row. Throwing ends the import. In browsers: at the end, for the first 1,000. */
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

type ImportFailure = Extract<ImportEvent, { type: 'failure' }>

type AnyImportOptions = Omit<ImportFileOptions, 'format'> & { format?: FileFormat | undefined }

/** The most errors in a report, as in the service's own. */
const ERRORS_MAX = 1_000
/** Codes sent before an import starts: not authorized, invalid parameter or media type, too many requests. */
const CODES_BEFORE_START = /^(40004|40[1-7]|41501|429|431)/

export async function importPlants(
  sender: Sender,
  source: PlantSource | FileSource,
  options: AnyImportOptions,
): Promise<ImportReport> {
  const { format } = options
  const limit = sender.limitTime(options)
  let upload: Awaited<ReturnType<typeof importBody>> | undefined
  const received: { progress?: ImportProgress } = {}
  let hasResponse = false
  try {
    const isFile = format !== undefined || isWholeFile(source)
    const mediaType = isFile ? mediaTypeOf(format) : NDJSON
    upload = await importBody(isFile ? (source as FileSource) : ndjsonOf(source as PlantSource), limit)
    const { body, isStreamed, isWaiting } = upload
    const headers: Record<string, string> = {
      'content-type': mediaType,
      // A browser reads nothing before the whole body is sent. Unread progress would block the service.
      accept: isStreamed ? NDJSON : 'application/json',
    }
    if (options.gzip) headers['content-encoding'] = 'gzip'
    const path = `/plants/import${queryOf(options)}`
    const response = await sender.open({ method: 'POST', path, headers, body, retry: 'never' }, limit)
    hasResponse = true
    const restart = () => isWaiting() || limit.restart()
    return await readReport(response, { ...limit, restart }, options, received)
  } catch (error) {
    const sourceFailure = upload?.failure()
    if (sourceFailure !== undefined) throw sourceFailure.error
    if (!(error instanceof RequestError)) throw error
    // With a streamed body, an error before the first progress means that the import has not started.
    const mayHaveStarted = hasResponse || upload?.isStreamed === false
    const mayBeStored =
      mayHaveStarted && error.kind === 'service'
        ? mayHaveStored(error)
        : hasResponse || error.isOutcomeUnknown
    throw amendError(error, { ...received, isOutcomeUnknown: !options.dryRun && mayBeStored })
  } finally {
    limit.end()
  }
}

/** Whether the source can only be a file. */
function isWholeFile(source: PlantSource | FileSource): boolean {
  return typeof source === 'string' || source instanceof Blob || source instanceof Uint8Array
}

/** Whether an import that the service ended may have stored rows, also after the last progress. */
function mayHaveStored({ code, details }: RequestError): boolean {
  if (details.outcome !== undefined) return details.outcome !== 'none'
  return !CODES_BEFORE_START.test(String(code))
}

function queryOf(options: AnyImportOptions): string {
  const { onConflict, dryRun, columns, idStart, encoding } = options
  return queryText({
    string: { onConflict, columns: columns?.join(), encoding },
    bigint: { idStart },
    boolean: { dryRun },
  })
}

async function readReport(
  response: ServiceResponse<Response>,
  limit: TimeLimit,
  { onProgress, onError }: ImportPlantsOptions,
  received: { progress?: ImportProgress },
): Promise<ImportReport> {
  if (!response.headers.get('content-type')?.startsWith(NDJSON)) {
    const body = await orConnectionLost(response.body.text(), limit)
    const report = readResponse({ ...response, body }, (parsed) => {
      const { errors, ...counts } = asObject<ImportReport>(parsed)
      return { ...counts, errors: errors.map(rowErrorOf) }
    })
    for (const error of report.errors) onError?.(error)
    return report
  }
  const errors: ImportRowError[] = []
  for await (const lines of readLines(response.body, limit)) {
    for (const line of lines) {
      const { type, ...event } = readResponse({ ...response, body: line }, asObject<ImportEvent>)
      if (type === 'progress') {
        received.progress = event as ImportProgress
        onProgress?.(received.progress)
      } else if (type === 'error') {
        const error = rowErrorOf(event)
        if (errors.length < ERRORS_MAX) errors.push(error)
        onError?.(error)
      } else if (type === 'report') {
        return { ...(event as Omit<ImportReport, 'errors'>), errors }
      } else if (type === 'failure') {
        const { error: code, message, details = {} } = event as Omit<ImportFailure, 'type'>
        // The status was sent before the failure. The code begins with the right one.
        throw new RequestError(message, {
          ...responseMembers(response),
          kind: 'service',
          code,
          details,
          status: Math.trunc(code / 100),
        })
      }
    }
  }
  throw connectionLost()
}

function rowErrorOf(parsed: unknown): ImportRowError {
  return (parsed as { id?: string }).id === undefined ? (parsed as ImportRowError) : withExactId(parsed)
}
