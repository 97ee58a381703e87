import { withExactId } from './exact-ids.ts'
import { type FileFormat, mediaTypeOf, NDJSON } from './export-plants.ts'
import { type FileSource, importBody, ndjsonOf, type PlantSource } from './import-body.ts'
import type { ImportError, ImportEvent, ImportReport } from './plant-types.ts'
import { queryText } from './query-text.ts'
import { asObject, readResponse } from './read-answer.ts'
import { brokeOff, orBrokeOff, readLines } from './read-lines.ts'
import { type ImportProgress, RequestError, withDetails } from './request-error.ts'
import { type Answer, type CallOptions, detailsOf, type Sender } from './send-request.ts'
import type { TimeLimit } from './time-limit.ts'

/**
 * A row that was refused; the others are stored all the same. Of plants that were given one by one, `line` is the
 * place of the plant, from 1. `error` is a code of the service: 40901 for an id that is taken, 40003 for a field
 * that is wrong, …
 */
export interface ImportRowError extends ImportError {}

/**
 * `timeoutMs` is the longest time without a byte in either direction; the time that your source takes is its own.
 * Browsers do not tell when bytes go out: there is no limit there, only `signal`.
 */
export interface ImportPlantsOptions extends CallOptions {
  /** What happens to a row whose id is taken: it is refused (`fail`, the default), left out, or it replaces. */
  onConflict?: 'fail' | 'skip' | 'replace' | undefined
  /** Only look: the report is that of an import, and nothing is stored. */
  dryRun?: boolean | undefined
  /** Called after commits, some times a second. What it throws ends the import. Not in browsers. */
  onProgress?: ((progress: ImportProgress) => void) | undefined
  /** Called for each row that is refused. What it throws ends the import. In browsers: at the end, the first 1,000. */
  onError?: ((error: ImportRowError) => void) | undefined
}

export interface ImportFileOptions extends ImportPlantsOptions {
  format: FileFormat
  /** The file is compressed with gzip. */
  gzip?: boolean | undefined
  /** CSV: the names of the columns, where the file has no header row. What is none of id, name, tag is ignored. */
  columns?: readonly string[] | undefined
  /** CSV: the id of the first row, the next one's is one more, and so on; the file needs no ids then. */
  idStart?: bigint | undefined
  /** CSV: how the text is encoded, as TextDecoder calls it: `windows-1252`, say. UTF-8 by default. */
  encoding?: string | undefined
}

type AnyImportOptions = Omit<ImportFileOptions, 'format'> & { format?: FileFormat | undefined }

/** As many errors are told in a report. */
const ERRORS_MAX = 1_000
/** What the service refuses with these, it has not begun: no right to, a parameter, a media type, too much at once. */
const CODES_OF_NONE_BEGUN = /^(40004|40[1-7]|41501|429|431)/
/** How the service ends what it says of an import that failed before it stored a row. */
const NOTHING_STORED = 'Nothing is stored.'
/** What it says of one that failed later, as by a token that was revoked meanwhile. */
const ROWS_STORED = /The rows before line \d+ are stored/

export async function importPlants(
  sender: Sender,
  source: PlantSource | FileSource,
  options: AnyImportOptions,
): Promise<ImportReport> {
  const { format } = options
  const limit = sender.limitTime(options)
  let upload: Awaited<ReturnType<typeof importBody>> | undefined
  const told: { progress?: ImportProgress } = {}
  let isAnswered = false
  try {
    const isFile = format !== undefined || isWholeFile(source)
    const mediaType = isFile ? mediaTypeOf(format) : NDJSON
    upload = await importBody(isFile ? (source as FileSource) : ndjsonOf(source as PlantSource), limit)
    const { body, isStreamed, isWaiting } = upload
    const headers: Record<string, string> = {
      'content-type': mediaType,
      // A browser reads no answer before it has sent all: one that grows meanwhile could stop the service.
      accept: isStreamed ? NDJSON : 'application/json',
    }
    if (options.gzip) headers['content-encoding'] = 'gzip'
    const path = `/plants/import${queryOf(options)}`
    const answer = await sender.open({ method: 'POST', path, headers, body, repeat: 'never' }, limit)
    isAnswered = true
    const restart = () => isWaiting() || limit.restart()
    return await readReport(answer, { ...limit, restart }, options, told)
  } catch (error) {
    const sourceFailure = upload?.failure()
    if (sourceFailure !== undefined) throw sourceFailure.error
    if (!(error instanceof RequestError)) throw error
    // Where progress is told, what is refused before that has not begun.
    const mayHaveBegun = isAnswered || upload?.isStreamed === false
    const mayBeStored =
      mayHaveBegun && error.kind === 'service' ? mayHaveStored(error) : isAnswered || error.isOutcomeUnknown
    throw withDetails(error, { ...told, isOutcomeUnknown: !options.dryRun && mayBeStored })
  } finally {
    limit.end()
  }
}

/** Whether it cannot be plants. */
function isWholeFile(source: PlantSource | FileSource): boolean {
  return typeof source === 'string' || source instanceof Blob || source instanceof Uint8Array
}

/** Whether an import that the service has ended may have stored rows, also behind those that it told of. */
function mayHaveStored({ code, message }: RequestError): boolean {
  if (ROWS_STORED.test(message)) return true
  return !CODES_OF_NONE_BEGUN.test(String(code)) && !message.endsWith(NOTHING_STORED)
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
  answer: Answer<Response>,
  limit: TimeLimit,
  { onProgress, onError }: ImportPlantsOptions,
  told: { progress?: ImportProgress },
): Promise<ImportReport> {
  if (!answer.headers.get('content-type')?.startsWith(NDJSON)) {
    const body = await orBrokeOff(answer.body.text(), limit)
    const report = readResponse({ ...answer, body }, (parsed) => {
      const { errors, ...counts } = asObject<ImportReport>(parsed)
      return { ...counts, errors: errors.map(rowErrorOf) }
    })
    for (const error of report.errors) onError?.(error)
    return report
  }
  const errors: ImportRowError[] = []
  for await (const lines of readLines(answer.body, limit)) {
    for (const line of lines) {
      const { type, ...said } = readResponse({ ...answer, body: line }, asObject<ImportEvent>)
      if (type === 'progress') {
        told.progress = said as ImportProgress
        onProgress?.(told.progress)
      } else if (type === 'error') {
        const error = rowErrorOf(said)
        if (errors.length < ERRORS_MAX) errors.push(error)
        onError?.(error)
      } else if (type === 'report') {
        return { ...(said as Omit<ImportReport, 'errors'>), errors }
      } else if (type === 'failure') {
        const { error: code, message } = said as ImportError
        // The status of the answer, sent when all was well, is no longer right; a code begins with one that is.
        throw new RequestError(message, {
          ...detailsOf(answer),
          kind: 'service',
          code,
          status: Math.trunc(code / 100),
        })
      }
    }
  }
  throw brokeOff()
}

function rowErrorOf(parsed: unknown): ImportRowError {
  return (parsed as { id?: string }).id === undefined ? (parsed as ImportRowError) : withExactId(parsed)
}
