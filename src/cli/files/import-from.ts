import type {
  ErrorDetails,
  FileSource,
  ImportFileOptions,
  ImportProgress,
  ImportReport,
  ImportRowError,
} from '../../client/plant-store-client.ts'
import { RequestError } from '../../client/request-error.ts'
import { printable, printableLines } from '../../printable.ts'
import { flagHint, isUnreachable, requestFailure } from '../calls/request-failure.ts'
import type { Service } from '../calls/service-call.ts'
import type { CommandContext, OutputStream } from '../command-context.ts'
import { CommandFailure, EXIT_FAILURE } from '../output/command-failure.ts'
import { byteSize, createProgressBar, type ProgressBar, wholeNumber } from '../output/progress-bar.ts'
import { sentences } from '../output/sentences.ts'
import { print } from '../output/standard-output.ts'
import { checkErrorsFile, mendingHint, writeFailedRows } from './failed-rows.ts'
import { type ImportInput, openInput } from './import-input.ts'
import { isFileThere } from './replacement-file.ts'

export interface RunImportOptions extends Service {
  file: ImportFileOptions
  /** Where the refused rows go. */
  errorsFile: string | undefined
  json: true | undefined
}

/** What is known of an import before it is over. */
interface Told {
  progress: ImportProgress | undefined
  /** How many rows were refused. */
  failed: number
  /** The id of each of them, by its line; only where they are to be written down. */
  refused: Map<number, bigint | undefined>
  /** The first of them. */
  errors: ImportRowError[]
}

/** More would push the rest off the screen; --errors has all of them. */
const SHOWN_ERRORS_MAX = 20

/** The code of the service for a file without a byte. */
const BODY_MISSING = 40001

/**
 * Imports a file, or standard input for `-`, and tells what became of its rows. Throws a CommandFailure that says how
 * far it got.
 */
export async function importFrom(
  context: CommandContext,
  path: string,
  parts: RunImportOptions,
): Promise<void> {
  const { stdout, stderr } = context
  const { errorsFile, file } = parts
  if (errorsFile !== undefined) await checkErrorsFile(context, errorsFile, path)
  const input = await openInput(context, path, { isGzip: file.gzip ?? false, keepBeside: errorsFile })
  const told: Told = { progress: undefined, failed: 0, refused: new Map(), errors: [] }
  try {
    const outcome = await send(input, parts, told, stderr).then(
      (report) => ({ report }),
      (error: unknown) => ({ error }),
    )
    printFailedRows(told, stderr)
    const unwritten = await writeErrorsFile(input, parts, told, stderr)
    if ('error' in outcome) {
      if (unwritten !== undefined) stderr.write(`plantstore: ${unwritten.message}\n`)
      throw importFailure(path, outcome.error, parts, told.progress)
    }
    const { report } = outcome
    await print(stdout, parts.json ? reportJson(report) : `${countsText(report, file.dryRun)}\n`)
    if (unwritten !== undefined) throw unwritten
    if (report.failed > 0) throw new CommandFailure('', EXIT_FAILURE)
  } finally {
    await input.close()
  }
}

async function send(
  input: ImportInput,
  { client, signal, file, errorsFile }: RunImportOptions,
  told: Told,
  stderr: OutputStream,
): Promise<ImportReport> {
  let done = 0
  const total = input.bytes
  const bar = createImportBar(input, file.dryRun, stderr)
  const show = () => {
    const { created = 0, replaced = 0, skipped = 0 } = told.progress ?? {}
    bar.update({
      done,
      total,
      rows: created + replaced + skipped + told.failed,
      errors: told.failed,
    })
  }
  const source: FileSource = input.read((bytes) => {
    done = bytes
    show()
  })
  try {
    return await client.importPlants(source, {
      ...file,
      signal,
      onProgress(progress) {
        told.progress = progress
        show()
      },
      onError(error) {
        told.failed++
        if (errorsFile !== undefined) told.refused.set(error.line, error.id)
        if (told.errors.length < SHOWN_ERRORS_MAX) told.errors.push(error)
        show()
      },
    })
  } finally {
    bar.end()
  }
}

function createImportBar(
  { bytes, isTyped }: ImportInput,
  dryRun: boolean | undefined,
  stderr: OutputStream,
): ProgressBar {
  if (isTyped) {
    // A bar would overwrite the typed text.
    stderr.write('Type the rows; Ctrl-D on a line of its own ends them.\n')
    return { update: () => undefined, end: () => undefined }
  }
  return createProgressBar(stderr, dryRun ? 'trying' : 'importing', ({ done }) =>
    bytes === undefined ? byteSize(done) : `${byteSize(done)} of ${byteSize(bytes)}`,
  )
}

/** Prints the first failed rows. */
function printFailedRows({ errors, failed }: Told, stderr: OutputStream): void {
  for (const { line, id, error, message, fields } of errors) {
    const row = id === undefined ? `line ${line}` : `line ${line}, id ${id}`
    const hint = flagHint({ ...(fields && { fields }) })
    stderr.write(`${row}: ${printable(message)} (code ${error})${hint}\n`)
  }
  const hidden = failed - errors.length
  if (hidden > 0) stderr.write(`and ${wholeNumber(hidden)} more\n`)
}

/**
 * Writes the refused rows down where that is wanted, and tells what became of the file. Gives the failure when they
 * cannot be: what became of the other rows is to be told all the same.
 */
async function writeErrorsFile(
  input: ImportInput,
  { errorsFile, file }: RunImportOptions,
  { failed, refused }: Told,
  stderr: OutputStream,
): Promise<CommandFailure | undefined> {
  if (errorsFile === undefined) return
  const name = printable(errorsFile)
  try {
    if (failed > 0) {
      await writeFailedRows(errorsFile, input, refused, file)
      stderr.write(`${mendingHint(errorsFile, file)}\n`)
    } else if (await isFileThere(errorsFile)) {
      stderr.write(`No row was refused; ${name} is as it was.\n`)
    }
  } catch (error) {
    const reason = error instanceof CommandFailure ? error.message : `${name}: ${(error as Error).message}.`
    const kept = (await isFileThere(errorsFile)) ? ` ${name} is as it was.` : ''
    return new CommandFailure(`The refused rows are not written down: ${reason}${kept}`)
  }
}

function countsText(counts: Omit<ImportReport, 'errors'>, dryRun: boolean | undefined): string {
  const { created, replaced, skipped, failed } = counts
  const others = Object.entries({ replaced, skipped, refused: failed }).filter(([, count]) => count > 0)
  const parts = [['created', created] as const, ...others]
  return `${dryRun ? 'Nothing is stored; this would be: ' : ''}${parts.map(([what, count]) => `${wholeNumber(count)} ${what}`).join(', ')}.`
}

/** The failure, with how far the import got and how to continue. */
function importFailure(
  path: string,
  error: unknown,
  { url, file }: RunImportOptions,
  progress: ImportProgress | undefined,
): unknown {
  if (error instanceof RequestError && error.code === BODY_MISSING) {
    return new CommandFailure(
      `There is nothing in ${path === '-' ? 'standard input' : printable(path)}: no row was imported.`,
    )
  }
  const failure = requestFailure(error, url, false)
  const details = error instanceof RequestError ? error.details : {}
  const isRejected =
    error instanceof RequestError && error.kind === 'service' && details.outcome === undefined
  if (isRejected || isUnreachable(error) || !(failure instanceof CommandFailure)) return failure
  return new CommandFailure(sentences(failure.message, howFar(file, details, progress)), failure.exitCode)
}

function howFar(
  { dryRun }: ImportFileOptions,
  { outcome = 'unknown', line, counts }: ErrorDetails,
  progress: ImportProgress | undefined,
): string {
  if (dryRun) return 'Nothing was stored, as it was a dry run.'
  if (outcome === 'none') return 'Nothing was stored.'
  const advice = 'Import it again with --on-conflict skip to continue.'
  const last = line === undefined || counts === undefined ? progress : { ...counts, line }
  if (last === undefined) return `Some rows may be stored. ${advice}`
  const later = outcome === 'unknown' ? ' Later rows may be stored, too.' : ''
  return `The rows before line ${wholeNumber(last.line)} are done: ${countsText(last, false)}${later} ${advice}`
}

function reportJson({ errors, ...counts }: ImportReport): string {
  const items = errors.map(({ line, id, ...others }) => {
    const idMember = id === undefined ? '' : `"id":${id},`
    return `{"line":${line},${idMember}${JSON.stringify(others).slice(1)}`
  })
  return printableLines(`${JSON.stringify(counts).slice(0, -1)},"errors":[${items.join(',')}]}\n`)
}
