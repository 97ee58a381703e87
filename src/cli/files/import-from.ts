import type {
  ErrorDetails,
  FileSource,
  ImportFileOptions,
  ImportProgress,
  ImportReport,
  ImportRowError,
} from '../../client/plant-store-client.ts'
import { RequestError } from '../../client/request-error.ts'
import { flagHint, isUnreachable, requestFailure } from '../calls/request-failure.ts'
import type { Service } from '../calls/service-call.ts'
import { CommandFailure, EXIT_FAILURE } from '../output/command-failure.ts'
import { printable, printableLines } from '../output/printable.ts'
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
export async function importFrom(path: string, parts: RunImportOptions): Promise<void> {
  const { errorsFile, file } = parts
  if (errorsFile !== undefined) await checkErrorsFile(errorsFile, path)
  const input = await openInput(path, { isGzip: file.gzip ?? false, keepBeside: errorsFile })
  const told: Told = { progress: undefined, failed: 0, refused: new Map(), errors: [] }
  try {
    const outcome = await send(input, parts, told).then(
      (report) => ({ report }),
      (error: unknown) => ({ error }),
    )
    tellRefused(told)
    const unwritten = await keepRefused(input, parts, told)
    if ('error' in outcome) {
      if (unwritten !== undefined) process.stderr.write(`plantstore: ${unwritten.message}\n`)
      throw importFailure(path, outcome.error, parts, told.progress)
    }
    const { report } = outcome
    await print(parts.json ? reportJson(report) : `${countsText(report, file.dryRun)}\n`)
    if (unwritten !== undefined) throw unwritten
    if (report.failed > 0) process.exitCode = EXIT_FAILURE
  } finally {
    await input.close()
  }
}

async function send(
  input: ImportInput,
  { client, signal, file, errorsFile }: RunImportOptions,
  told: Told,
): Promise<ImportReport> {
  let done = 0
  const total = input.bytes
  const bar = await createImportBar(input, file.dryRun)
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

async function createImportBar(
  { bytes, isTyped }: ImportInput,
  dryRun: boolean | undefined,
): Promise<ProgressBar> {
  if (isTyped) {
    // A bar would be drawn over what is typed.
    process.stderr.write('Type the rows; Ctrl-D on a line of its own ends them.\n')
    return { update: () => undefined, end: () => undefined }
  }
  return createProgressBar(dryRun ? 'trying' : 'importing', ({ done }) =>
    bytes === undefined ? byteSize(done) : `${byteSize(done)} of ${byteSize(bytes)}`,
  )
}

/** Tells of the refused rows. */
function tellRefused({ errors, failed }: Told): void {
  for (const { line, id, error, message, fields } of errors) {
    const row = id === undefined ? `line ${line}` : `line ${line}, id ${id}`
    process.stderr.write(
      `${row}: ${printable(message)} (code ${error})${flagHint({ ...(fields && { fields }) })}\n`,
    )
  }
  const hidden = failed - errors.length
  if (hidden > 0) process.stderr.write(`and ${wholeNumber(hidden)} more\n`)
}

/**
 * Writes the refused rows down where that is wanted, and tells what became of the file. Gives the failure when they
 * cannot be: what became of the other rows is to be told all the same.
 */
async function keepRefused(
  input: ImportInput,
  { errorsFile, file }: RunImportOptions,
  { failed, refused }: Told,
): Promise<CommandFailure | undefined> {
  if (errorsFile === undefined) return
  const name = printable(errorsFile)
  try {
    if (failed > 0) {
      await writeFailedRows(errorsFile, input, refused, file)
      process.stderr.write(`${mendingHint(errorsFile, file)}\n`)
    } else if (await isFileThere(errorsFile)) {
      process.stderr.write(`No row was refused; ${name} is as it was.\n`)
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
