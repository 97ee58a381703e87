// The file formats of plants, for service, command line and web app. Uses no API that only Node.js or browsers have.

/** Delimiters of cells. The service accepts commas; command line and web app convert the others. */
export const DELIMITERS = [',', ';', '\t'] as const
export type Delimiter = (typeof DELIMITERS)[number]

/** The maximum length of a row without its line ending. A longer row fails; typed plants are far shorter. */
export const ROW_BYTES_MAX = 64 * 1024

/**
 * A row must end within this many bytes. Otherwise a quotation mark that is never closed would fill the memory. It also
 * bounds the number of cells, because each takes at least a byte.
 */
export const ROW_END_WITHIN_BYTES = 1024 * 1024

/** The maximum number of columns: far more than a table of plants has, and fast to read. */
export const COLUMNS_MAX = 1_000

export const LINE_FEED = 0x0a
export const CARRIAGE_RETURN = 0x0d
export const QUOTATION_MARK = 0x22

/**
 * Whether a row has only delimiters and a line ending. Blank rows are ignored: spreadsheets write rows of empty cells
 * after a table.
 */
export function isBlankRow(row: Uint8Array, delimiter: Delimiter = ','): boolean {
  const code = delimiter.charCodeAt(0)
  return row.every((byte) => byte === LINE_FEED || byte === CARRIAGE_RETURN || byte === code)
}

/** The encodings that the web app offers. The service decodes every encoding of the Encoding Standard. */
export const ENCODINGS = [
  'utf-8',
  'windows-1252',
  'windows-1250',
  'windows-1251',
  'windows-1253',
  'windows-1254',
  'utf-16le',
  'utf-16be',
] as const
export type Encoding = (typeof ENCODINGS)[number]
export type WideEncoding = 'utf-16le' | 'utf-16be'

/** The number of bytes that identify a byte order mark, UTF-16 without one, or gzip. */
export const SIGNATURE_BYTES = 4

/** Whether every character, also of ASCII, takes at least two bytes. */
export function isWide(encoding: string | undefined): encoding is WideEncoding {
  return encoding === 'utf-16le' || encoding === 'utf-16be'
}

/** Whether the bytes are gzip (RFC 1952 §2.3.1). No text begins with them, in any encoding in use. */
export function isGzip(start: Uint8Array): boolean {
  return start[0] === 0x1f && start[1] === 0x8b
}

export const UTF_8_MARK_BYTES = 3

/** The length of the byte order mark of a UTF-8 or UTF-16 text; 0 if there is none. */
export function markBytes(start: Uint8Array): number {
  const [one, two, three] = start
  if (one === 0xef && two === 0xbb && three === 0xbf) return UTF_8_MARK_BYTES
  return (one === 0xff && two === 0xfe) || (one === 0xfe && two === 0xff) ? 2 : 0
}

/** The UTF-16 encoding of a text that begins with a byte order mark or an ASCII character; undefined if neither. */
export function wideEncodingOf(start: Uint8Array): WideEncoding | undefined {
  const [one, two] = start
  if ((one === 0xff && two === 0xfe) || (one !== 0 && two === 0)) return 'utf-16le'
  if ((one === 0xfe && two === 0xff) || (one === 0 && two !== 0 && two !== undefined)) return 'utf-16be'
  return undefined
}

/** The most likely encoding of a text, from its first bytes. `isWhole` is true if they are all of it. */
export function guessEncoding(start: Uint8Array, isWhole: boolean): Encoding {
  const wide = markBytes(start) === 2 ? wideEncodingOf(start) : undefined
  if (wide !== undefined) return wide
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(start, { stream: !isWhole })
    return 'utf-8'
  } catch {
    return 'windows-1252'
  }
}

/** The members of a plant that have a column. */
export const COLUMN_MEMBERS = ['id', 'name', 'tag'] as const
export type ColumnMember = (typeof COLUMN_MEMBERS)[number]

/** The member of each column, with its name in any case and trimmed; undefined for other columns. */
export function columnMembers<Member extends string>(
  names: readonly string[],
  members: readonly Member[],
): (Member | undefined)[] {
  return names.map((text) => {
    const name = text.trim().toLowerCase()
    return members.find((member) => member === name)
  })
}

/** The delimiter that makes a header row of a row without commas; undefined if there is none. */
export function otherDelimiterOf(cells: readonly string[]): Delimiter | undefined {
  const [cell = '', ...others] = cells
  if (others.length > 0) return undefined
  return DELIMITERS.find((delimiter) => {
    const names = cell.split(delimiter)
    return names.length > 1 && columnMembers(names, COLUMN_MEMBERS).includes('name')
  })
}

/** The new name of a column id in a file whose rows get new ids, so that it is ignored. */
const FORMER_ID = 'former_id'
const ID_CELLS: Record<Delimiter, RegExp> = {
  ',': /(^|,)([ \t]*"?[ \t]*)id(?=[ \t]*"?[ \t]*(?:,|[\r\n]|$))/gi,
  ';': /(^|;)([ \t]*"?[ \t]*)id(?=[ \t]*"?[ \t]*(?:;|[\r\n]|$))/gi,
  '\t': /(^|\t)( *"? *)id(?= *"? *(?:\t|[\r\n]|$))/gi,
}

/** The header row of a table that gets a new first column id. */
export function numberedHeader(header: string, delimiter: Delimiter = ','): string {
  return `id${delimiter}${header.replace(ID_CELLS[delimiter], `$1$2${FORMER_ID}`)}`
}

/** The same for a list of column names. */
export function numberedColumns(names: readonly string[]): string[] {
  return ['id', ...names.map((name) => (name.trim().toLowerCase() === 'id' ? FORMER_ID : name))]
}

const SPECIAL: Record<Delimiter, RegExp> = { ',': /[",\r\n]/, ';': /[";\r\n]/, '\t': /["\t\r\n]/ }

/**
 * A text as a cell (RFC 4180). It is quoted if it contains a delimiter, quotation mark or line break, or is empty: an
 * empty cell without quotation marks has no value.
 */
export function cellText(text: string, delimiter: Delimiter = ','): string {
  return text === '' || SPECIAL[delimiter].test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
