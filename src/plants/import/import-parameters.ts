import { AppError, invalidParameter } from '../../errors.ts'
import { ID_MAX, ID_MIN, parseIdText } from '../plant.ts'
import { CONFLICT_RULES, type ConflictRule } from './run-import.ts'

export const NDJSON = 'application/x-ndjson'
export const CSV = 'text/csv'

/** What programs send instead: Windows with Excel calls CSV application/vnd.ms-excel. */
export const MEDIA_TYPE_ALIASES: ReadonlyMap<string, typeof NDJSON | typeof CSV> = new Map([
  ['application/ndjson', NDJSON],
  ['application/jsonl', NDJSON],
  ['application/vnd.ms-excel', CSV],
])

/** The query parameters of every import, and those of CSV only. */
const QUERY_NAMES = ['onConflict', 'dryRun'] as const
const CSV_QUERY_NAMES = ['columns', 'idStart', 'encoding'] as const
export const IMPORT_QUERY_NAMES = [...QUERY_NAMES, ...CSV_QUERY_NAMES]

export type ImportQuery = Partial<Record<(typeof IMPORT_QUERY_NAMES)[number], string>>

export interface ImportParameters {
  onConflict: ConflictRule
  dryRun: boolean
  /** The names of the columns of a table without a header row. */
  columns: string[] | undefined
  /** The id of the first row; undefined if the rows have ids. */
  idStart: bigint | undefined
  /** Its name in the Encoding Standard; undefined for UTF-8. */
  encoding: string | undefined
}

/** Parses the query of an import. Throws 40004 for an invalid value, and for a parameter of CSV with NDJSON. */
export function parseImportQuery(
  query: ImportQuery,
  mediaType: typeof NDJSON | typeof CSV,
): ImportParameters {
  const { onConflict = 'fail', dryRun = 'false', columns, idStart, encoding } = query
  const rule = CONFLICT_RULES.find((known) => known === onConflict)
  if (rule === undefined) {
    throw invalidParameter('onConflict', `onConflict must be one of ${CONFLICT_RULES.join(', ')}.`)
  }
  if (dryRun !== 'true' && dryRun !== 'false') {
    throw invalidParameter('dryRun', 'dryRun must be true or false.')
  }
  const misplaced = mediaType === CSV ? undefined : CSV_QUERY_NAMES.find((name) => query[name] !== undefined)
  if (misplaced !== undefined) {
    throw invalidParameter(misplaced, `${misplaced} is only for a body of text/csv.`)
  }
  return {
    onConflict: rule,
    dryRun: dryRun === 'true',
    columns: columns?.split(','),
    idStart: idStart === undefined ? undefined : firstIdIn(idStart),
    encoding: encoding === undefined ? undefined : encodingOf(encoding),
  }
}

function firstIdIn(text: string): bigint {
  const id = parseIdText(text)
  if (id === undefined)
    throw invalidParameter('idStart', `idStart must be an integer from ${ID_MIN} to ${ID_MAX}.`)
  return id
}

/** Throws 41501 with advice for a CSV body that was rejected for the charset in its Content-Type. */
export function adviseEncoding(contentType: string | undefined): void {
  const [, charset] =
    /^\s*(?:text\/csv|application\/vnd\.ms-excel)\s*;(?:.*;)?\s*charset\s*=\s*"?([^\s";]*)/i.exec(
      contentType ?? '',
    ) ?? []
  if (charset === undefined || /^utf-?8$/i.test(charset)) return
  const encoding = isEncoding(charset) ? charset : 'windows-1252'
  throw new AppError(
    41501,
    `The charset of CSV is not read from Content-Type. Send UTF-8, or set the parameter encoding to ${encoding}.`,
    { details: { parameter: 'encoding' } },
  )
}

function isEncoding(label: string): boolean {
  try {
    return new TextDecoder(label).encoding !== ''
  } catch {
    return false
  }
}

function encodingOf(label: string): string | undefined {
  try {
    const { encoding } = new TextDecoder(label)
    return encoding === 'utf-8' ? undefined : encoding
  } catch {
    throw invalidParameter(
      'encoding',
      'encoding must be a name of the Encoding Standard, such as utf-8, windows-1252, utf-16le or iso-8859-1.',
    )
  }
}
