import { basename } from 'node:path'
import type { FileFormat } from '../../client/plant-store-client.ts'
import type { Delimiter } from '../../plants/import/table-dialect.ts'
import { CommandFailure, EXIT_USAGE } from '../output/command-failure.ts'

export const FILE_FORMATS = ['ndjson', 'csv'] as const satisfies FileFormat[]

/** The values of --delimiter. */
export const DELIMITER_NAMES = ['comma', 'semicolon', 'tab'] as const
export type DelimiterName = (typeof DELIMITER_NAMES)[number]
export const DELIMITERS_BY_NAME: Readonly<Record<DelimiterName, Delimiter>> = {
  comma: ',',
  semicolon: ';',
  tab: '\t',
}

const FORMATS_BY_ENDING: Readonly<Record<string, FileFormat>> = {
  ndjson: 'ndjson',
  jsonl: 'ndjson',
  csv: 'csv',
}

/** The format by the ending of a file name, and whether the file is compressed (`plants.csv.gz`). */
export function formatOf(path: string): { format: FileFormat | undefined; isGzip: boolean } {
  const endings = basename(path).toLowerCase().split('.').slice(1)
  const isGzip = endings.at(-1) === 'gz'
  if (isGzip) endings.pop()
  return { format: FORMATS_BY_ENDING[endings.at(-1) ?? ''], isGzip }
}

/** Throws the CommandFailure that names --format. */
export function formatUnknown(what: string): never {
  throw new CommandFailure(
    `The format of ${what} is unknown. Use --format ${FILE_FORMATS.join(' or ')}, or a name that ends in .ndjson, .jsonl or .csv, with or without .gz.`,
    EXIT_USAGE,
  )
}
