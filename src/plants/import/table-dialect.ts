// What a file of plants is, for service, command line and web app alike. No API of Node.js alone or of browsers alone.

/** What may separate cells. Files are imported with commas; the others are recognised, for advice. */
export const DELIMITERS = [',', ';', '\t'] as const
export type Delimiter = (typeof DELIMITERS)[number]

/** A longer row, without its line ending, is a failed row: a plant that anybody typed is far shorter. */
export const ROW_BYTES_MAX = 64 * 1024

/**
 * The end of a row must follow within so many bytes. A row without an end, as after a quotation mark that is never
 * closed, would fill the memory. It bounds the number of cells, too: each takes at least a byte.
 */
export const ROW_END_WITHIN_BYTES = 1024 * 1024

/** Far more than a table of plants has, and few enough that a header row of them is soon read. */
export const COLUMNS_MAX = 1_000

export const LINE_FEED = 0x0a
export const CARRIAGE_RETURN = 0x0d
export const QUOTATION_MARK = 0x22

/** Whether there is nothing in a row but its line ending. Such a one is no row. */
export function isBlankRow(row: Uint8Array): boolean {
  return row.every((byte) => byte === LINE_FEED || byte === CARRIAGE_RETURN)
}

/** The encodings that the web app offers. The service decodes every one of the Encoding Standard. */
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

/** So many bytes show a byte order mark, UTF-16 without one, or gzip. */
export const SIGNATURE_BYTES = 4

/** Whether a character takes at least two bytes, delimiters and line endings as well. */
export function isWide(encoding: string | undefined): encoding is WideEncoding {
  return encoding === 'utf-16le' || encoding === 'utf-16be'
}

/** RFC 1952 §2.3.1: no text begins so, in any encoding in use. */
export function isGzip(start: Uint8Array): boolean {
  return start[0] === 0x1f && start[1] === 0x8b
}

export const UTF_8_MARK_BYTES = 3

/** How many bytes the byte order mark of a UTF-8 or UTF-16 text takes; 0 where there is none. */
export function markBytes(start: Uint8Array): number {
  const [one, two, three] = start
  if (one === 0xef && two === 0xbb && three === 0xbf) return UTF_8_MARK_BYTES
  return (one === 0xff && two === 0xfe) || (one === 0xfe && two === 0xff) ? 2 : 0
}

/** The UTF-16 in which a text begins: with a byte order mark, or with a first character of ASCII. */
export function wideEncodingOf(start: Uint8Array): WideEncoding | undefined {
  const [one, two] = start
  if ((one === 0xff && two === 0xfe) || (one !== 0 && two === 0)) return 'utf-16le'
  if ((one === 0xfe && two === 0xff) || (one === 0 && two !== 0 && two !== undefined)) return 'utf-16be'
  return undefined
}

/** The likeliest encoding of a text that begins so; `isWhole` says whether that is all of it. */
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

/** The members of a plant that a column may hold. */
export const COLUMN_MEMBERS = ['id', 'name', 'tag'] as const
export type ColumnMember = (typeof COLUMN_MEMBERS)[number]

/** The member that each of these columns holds, named in any case and between spaces; undefined for other columns. */
export function columnMembers<Member extends string>(
  names: readonly string[],
  members: readonly Member[],
): (Member | undefined)[] {
  return names.map((text) => {
    const name = text.trim().toLowerCase()
    return members.find((member) => member === name)
  })
}

/** The delimiter other than the comma that makes a header row of plants of this row, which commas leave whole. */
export function otherDelimiterOf(cells: readonly string[]): Delimiter | undefined {
  const [cell = '', ...others] = cells
  if (others.length > 0) return undefined
  return DELIMITERS.find((delimiter) => {
    const names = cell.split(delimiter)
    return names.length > 1 && columnMembers(names, COLUMN_MEMBERS).includes('name')
  })
}

/** The name of a column id in a file whose rows were numbered: it stays ignored. */
const FORMER_ID = 'former_id'
const ID_CELLS = /(^|,)([ \t]*"?[ \t]*)id(?=[ \t]*"?[ \t]*(?:,|[\r\n]|$))/gi

/** The header row of a table that gets the numbers of its rows as a first column. */
export function numberedHeader(header: string): string {
  return `id,${header.replace(ID_CELLS, `$1$2${FORMER_ID}`)}`
}

/** The same for the names of columns. */
export function numberedColumns(names: readonly string[]): string[] {
  return ['id', ...names.map((name) => (name.trim().toLowerCase() === 'id' ? FORMER_ID : name))]
}

const SPECIAL: Record<Delimiter, RegExp> = { ',': /[",\r\n]/, ';': /[";\r\n]/, '\t': /["\t\r\n]/ }

/**
 * A text as a cell (RFC 4180). Quoted where it holds what separates cells or rows, or is empty: an empty cell is no
 * text.
 */
export function cellText(text: string, delimiter: Delimiter = ','): string {
  return text === '' || SPECIAL[delimiter].test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
