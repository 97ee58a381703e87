import type {
  ErrorDetails,
  ImportFileOptions,
  ImportProgress,
  ImportReport,
  ImportRowError,
} from '../../client/plant-store-client.ts'
import { RequestError } from '../../client/request-error.ts'
import { orAborted } from '../../client/time-limit.ts'
import type { Delimiter } from '../../plants/import/table-dialect.ts'
import { printable, printableLines } from '../../printable.ts'
import { flagHint, isUnreachable, requestFailure } from '../calls/request-failure.ts'
import type { Service } from '../calls/service-call.ts'
import type { CommandContext, OutputStream } from '../command-context.ts'
import { CommandFailure, EXIT_FAILURE } from '../output/command-failure.ts'
import { byteSize, createProgressBar, type ProgressBar, wholeNumber } from '../output/progress-bar.ts'
import { messageStream, type QuietFlag } from '../output/quiet.ts'
import { sentences } from '../output/sentences.ts'
import { print } from '../output/standard-output.ts'
import { decodedInput } from './decoded-input.ts'
import { checkErrorsFile, correctionHint, writeFailedRows } from './failed-rows.ts'
import { DELIMITERS_BY_NAME, type DelimiterName } from './file-format.ts'
import { type ImportInput, openInput } from './import-input.ts'
import { fileExists } from './replacement-file.ts'

export interface RunImportOptions extends Service, QuietFlag {
  file: ImportFileOptions
  /** Of a table; undefined to use that of its header row. */
  delimiter: DelimiterName | undefined
  /** Where the failed rows are written. */
  errorsFile: string | undefined
  json: true | undefined
}

/** The state of a running import. */
interface ImportState {
  progress: ImportProgress | undefined
  /** What separates the cells of the file. */
  delimiter: Delimiter
  /** The number of failed rows. */
  failed: number
  /** The ids of the failed rows by line; empty without --errors. */
  failedIds: Map<number, bigint | undefined>
  /** The first failed rows. */
  errors: ImportRowError[]
}

/** More would fill the screen; --errors writes all of them. */
const SHOWN_ERRORS_MAX = 20

/** The service's error code for an empty file. */
const BODY_MISSING = 40001

/**
 * Imports a file, or standard input for `-`, and reports the result. Throws a CommandFailure with the progress so far.
 */
export async function importFrom(
  context: CommandContext,
  path: string,
  options: RunImportOptions,
): Promise<void> {
  const { stdout, stderr } = context
  const { errorsFile, file } = options
  if (errorsFile !== undefined) await checkErrorsFile(context, errorsFile, path)
  const input = await openInput(context, path, { isGzip: file.gzip ?? false, keepBeside: errorsFile })
  const state: ImportState = {
    progress: undefined,
    delimiter: ',',
    failed: 0,
    failedIds: new Map(),
    errors: [],
  }
  try {
    const outcome = await send(input, options, state, messageStream(context, options)).then(
      (report) => ({ report }),
      (error: unknown) => ({ error }),
    )
    printFailedRows(state, stderr)
    const errorsFailure = await writeErrorsFile(input, options, state, stderr)
    if ('error' in outcome) {
      if (errorsFailure !== undefined) stderr.write(`plantstore: ${errorsFailure.message}\n`)
      throw importFailure(path, outcome.error, options, state.progress)
    }
    const { report } = outcome
    if (options.json) await print(stdout, reportJson(report))
    else if (!options.quiet) await print(stdout, `${countsText(report, file.dryRun)}\n`)
    if (errorsFailure !== undefined) throw errorsFailure
    if (report.failed > 0) throw new CommandFailure('', EXIT_FAILURE)
  } finally {
    await input.close()
  }
}

async function send(
  input: ImportInput,
  { client, signal, file, delimiter, errorsFile }: RunImportOptions,
  state: ImportState,
  messages: OutputStream,
): Promise<ImportReport> {
  let done = 0
  const total = input.bytes
  const bar = createImportBar(input, file.dryRun, messages)
  const show = () => {
    const { created = 0, replaced = 0, skipped = 0 } = state.progress ?? {}
    bar.update({
      done,
      total,
      rows: created + replaced + skipped + state.failed,
      errors: state.failed,
    })
  }
  const chunks = input.read((bytes) => {
    done = bytes
    show()
  })
  try {
    const text = await orAborted(
      decodedInput(chunks, file, delimiter && DELIMITERS_BY_NAME[delimiter]),
      signal,
    )
    state.delimiter = text.delimiter
    const report = await client.importPlants(text.source, {
      ...text.file,
      signal,
      onProgress(progress) {
        state.progress = progress
        show()
      },
      onError(error) {
        state.failed++
        if (errorsFile !== undefined) state.failedIds.set(error.line, error.id)
        if (state.errors.length < SHOWN_ERRORS_MAX) state.errors.push(error)
        show()
      },
    })
    // The report of a dry run lists only the first failed rows.
    state.failed = report.failed
    return report
  } finally {
    bar.end()
  }
}

function createImportBar(
  { bytes, isTyped }: ImportInput,
  dryRun: boolean | undefined,
  messages: OutputStream,
): ProgressBar {
  if (isTyped) {
    // No bar: it would overwrite the typed text.
    messages.write('Type the rows, then press Ctrl-D on an empty line.\n')
    return { update: () => undefined, end: () => undefined }
  }
  return createProgressBar(messages, dryRun ? 'checking' : 'importing', ({ done }) =>
    bytes === undefined ? byteSize(done) : `${byteSize(done)} of ${byteSize(bytes)}`,
  )
}

/** Prints the first failed rows. */
function printFailedRows({ errors, failed }: ImportState, stderr: OutputStream): void {
  for (const { line, id, error, message, fields } of errors) {
    const row = id === undefined ? `line ${line}` : `line ${line}, id ${id}`
    const hint = flagHint({ ...(fields && { fields }) })
    stderr.write(`${row}: ${printable(message)} (code ${error})${hint}\n`)
  }
  const hidden = failed - errors.length
  if (hidden > 0) stderr.write(`and ${wholeNumber(hidden)} more\n`)
}

/**
 * Writes the failed rows to the file of --errors and reports it. Returns a failure instead of throwing it, because the
 * result of the import is reported in any case.
 */
async function writeErrorsFile(
  input: ImportInput,
  { errorsFile, file, delimiter }: RunImportOptions,
  { failed, failedIds, ...state }: ImportState,
  stderr: OutputStream,
): Promise<CommandFailure | undefined> {
  if (errorsFile === undefined) return
  const name = printable(errorsFile)
  try {
    if (failed > 0) {
      await writeFailedRows(errorsFile, input, failedIds, file, state.delimiter)
      if (failedIds.size < failed) {
        stderr.write(`Only the first ${wholeNumber(failedIds.size)} failed rows are written.\n`)
      }
      stderr.write(`${correctionHint(errorsFile, file, delimiter)}\n`)
    } else if (await fileExists(errorsFile)) {
      stderr.write(`No row failed. ${name} is unchanged.\n`)
    }
  } catch (error) {
    const reason = error instanceof CommandFailure ? error.message : `${name}: ${(error as Error).message}.`
    const unchanged = (await fileExists(errorsFile)) ? ` ${name} is unchanged.` : ''
    return new CommandFailure(`The failed rows were not written. ${reason}${unchanged}`)
  }
}

function countsText(counts: Omit<ImportReport, 'errors'>, dryRun: boolean | undefined): string {
  const { created, replaced, skipped, failed } = counts
  const others = Object.entries({ replaced, skipped, failed }).filter(([, count]) => count > 0)
  const parts = [['created', created] as const, ...others]
  return `${dryRun ? 'Dry run, nothing stored: ' : ''}${parts.map(([what, count]) => `${wholeNumber(count)} ${what}`).join(', ')}.`
}

/** The failure, with the progress of the import and how to continue. */
function importFailure(
  path: string,
  error: unknown,
  { url, file }: RunImportOptions,
  progress: ImportProgress | undefined,
): unknown {
  if (error instanceof RequestError && error.code === BODY_MISSING) {
    return new CommandFailure(
      `${path === '-' ? 'Standard input' : printable(path)} is empty: no row was imported.`,
    )
  }
  const failure = requestFailure(error, url, false)
  const details = error instanceof RequestError ? error.details : {}
  const isRejected =
    error instanceof RequestError && error.kind === 'service' && details.outcome === undefined
  if (isRejected || isUnreachable(error) || !(failure instanceof CommandFailure)) return failure
  return new CommandFailure(
    sentences(failure.message, progressText(file, details, progress)),
    failure.exitCode,
  )
}

function progressText(
  { dryRun }: ImportFileOptions,
  { outcome = 'unknown', line, counts }: ErrorDetails,
  progress: ImportProgress | undefined,
): string {
  if (dryRun) return 'Nothing was stored: this was a dry run.'
  if (outcome === 'none') return 'Nothing was stored.'
  const advice = 'Import it again with --on-conflict skip to continue.'
  const last = line === undefined || counts === undefined ? progress : { ...counts, line }
  if (last === undefined) return `Some rows may have been stored. ${advice}`
  const later = outcome === 'unknown' ? ' Later rows may have been stored, too.' : ''
  return `The rows before line ${wholeNumber(last.line)} are complete: ${countsText(last, false)}${later} ${advice}`
}

function reportJson({ errors, ...counts }: ImportReport): string {
  const items = errors.map(({ line, id, ...others }) => {
    const idMember = id === undefined ? '' : `"id":${id},`
    return `{"line":${line},${idMember}${JSON.stringify(others).slice(1)}`
  })
  return printableLines(`${JSON.stringify(counts).slice(0, -1)},"errors":[${items.join(',')}]}\n`)
}
