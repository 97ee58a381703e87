import { type ImportRowError, RequestError } from '../../../src/client/plant-store-client.ts'

/** How the service ends what it says of an import that failed: of a part of a file, that would be misleading. */
const HOW_FAR =
  / (?:Nothing is stored|The rows before line \d+ are stored: .*|In this dry run nothing is stored.*)\.$/s
const LINE = /\bline (\d+)/g

/** What was said of a row in a part of a file, with its line in the file. */
export function ofWholeFile(error: ImportRowError, linesBefore: number): ImportRowError {
  return { ...error, line: error.line + linesBefore }
}

/** Why a part of a file failed, with lines of the file, and without how far that part got. */
export function failureOfWholeFile(error: unknown, linesBefore: number): unknown {
  if (!(error instanceof RequestError) || error.kind !== 'service') return error
  const message = error.message
    .replace(HOW_FAR, '')
    .replace(LINE, (_, line: string) => `line ${(Number(line) + linesBefore).toLocaleString('en')}`)
  return new RequestError(message, { ...error, cause: error })
}
