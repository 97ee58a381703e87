import { basename } from 'node:path'
import type { FileFormat } from '../../client/plant-store-client.ts'
import { CommandFailure, EXIT_USAGE } from '../output/command-failure.ts'

export const FILE_FORMATS = ['ndjson', 'csv'] as const satisfies FileFormat[]

const FORMATS_BY_ENDING: Readonly<Record<string, FileFormat>> = {
  ndjson: 'ndjson',
  jsonl: 'ndjson',
  csv: 'csv',
}

/** The format that the name of a file tells by its ending, and whether it is compressed (`plants.csv.gz`). */
export function formatOf(path: string): { format: FileFormat | undefined; isGzip: boolean } {
  const endings = basename(path).toLowerCase().split('.').slice(1)
  const isGzip = endings.at(-1) === 'gz'
  if (isGzip) endings.pop()
  return { format: FORMATS_BY_ENDING[endings.at(-1) ?? ''], isGzip }
}

/** Throws the CommandFailure that asks for --format. */
export function formatUnknown(what: string): never {
  throw new CommandFailure(
    `${what} does not tell its format: give --format ${FILE_FORMATS.join(' or ')}, or a name that ends in .ndjson, .jsonl or .csv, maybe with .gz.`,
    EXIT_USAGE,
  )
}
