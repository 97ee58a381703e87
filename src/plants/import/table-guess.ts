import { createRowReader } from './row-reader.ts'
import { RowEndError } from './row-scanner.ts'
import {
  COLUMN_MEMBERS,
  type ColumnMember,
  columnMembers,
  DELIMITERS,
  type Delimiter,
} from './table-dialect.ts'

// What a table probably means, from its first rows. Uses no API that only Node.js or browsers have.

const CHUNK_BYTES = 64 * 1024
/** Rows by which the delimiter is guessed, with the header row. */
const GUESS_ROWS = 20

/** The names of columns in gardens' tables, the surest first: folded as by `foldedHeading`. */
const HEADINGS: Record<ColumnMember, readonly string[]> = {
  id: [
    ...['id', 'plant id', 'plantid', 'nr', 'no', 'num', 'number', 'nummer', 'numero', 'n', 'accession'],
    ...['accession number', 'accession no', 'acc no', 'acc nr', 'inventarnummer', 'zugangsnummer', 'numer'],
  ],
  name: [
    ...['name', 'plant name', 'plant', 'scientific name', 'botanical name', 'latin name', 'species', 'taxon'],
    ...['bezeichnung', 'pflanzenname', 'pflanze', 'nom', 'nombre', 'nome', 'naam', 'plante', 'planta', 'art'],
  ],
  tag: [
    ...['tag', 'tags', 'type', 'typ', 'tipo', 'category', 'kategorie', 'categorie', 'categoria'],
    ...['group', 'gruppe', 'groupe', 'grupo'],
  ],
}

/** The first rows of a table, without an incomplete last row and without blank rows. */
export function firstTableRows(
  text: string,
  isWhole: boolean,
  rowsMax: number,
  delimiter: Delimiter,
): string[][] {
  const rows: string[][] = []
  const reader = createRowReader(({ cells }) => {
    if (cells.length > 0 && rows.length < rowsMax) rows.push([...cells])
  }, delimiter)
  const bytes = new TextEncoder().encode(text)
  try {
    for (let at = 0; at < bytes.length && rows.length < rowsMax; at += CHUNK_BYTES) {
      reader.read(bytes.subarray(at, at + CHUNK_BYTES))
    }
    if (isWhole) reader.end()
  } catch (error) {
    // The import reports it after the rows before it.
    if (!(error instanceof RowEndError)) throw error
  }
  return rows
}

/**
 * The delimiter of a table: the one whose first row names a column of names; otherwise the one that gives every row the
 * same number of cells, and the most; a comma if there is none.
 */
export function guessDelimiter(text: string, isWhole: boolean): Delimiter {
  const candidates = DELIMITERS.map((delimiter) => {
    const rows = firstTableRows(text, isWhole, GUESS_ROWS, delimiter)
    const width = rows[0]?.length ?? 0
    const isRegular = width > 1 && rows.every(({ length }) => length === width)
    const isNamed = width > 1 && guessHeadings(rows[0] ?? []).includes('name')
    return {
      delimiter,
      score: (isNamed ? 2_000_000 : 0) + (isRegular ? 1_000_000 : 0) + Math.min(width, 999_999),
    }
  })
  const best = candidates.reduce((one, other) => (other.score > one.score ? other : one))
  // Without a heading, an irregular table has its commas in texts.
  return best.score < 1_000_000 ? ',' : best.delimiter
}

/**
 * The delimiter with which the header row has a column `name`; a comma if none has. Undefined if more text is needed:
 * `isWhole` is false and the header row is incomplete.
 */
export function headerDelimiter(text: string, isWhole: boolean): Delimiter | undefined {
  const headers = DELIMITERS.map((delimiter) => firstTableRows(text, isWhole, 1, delimiter)[0])
  const found = headers.findIndex((cells) => cells && columnMembers(cells, COLUMN_MEMBERS).includes('name'))
  if (found < 0 && !isWhole && headers.includes(undefined)) return undefined
  return DELIMITERS[found] ?? ','
}

/** The member that each heading names; '' for other columns. Each member occurs once, in its surest column. */
export function guessHeadings(header: readonly string[]): (ColumnMember | '')[] {
  const folded = header.map(foldedHeading)
  const members: (ColumnMember | '')[] = header.map(() => '')
  for (const member of COLUMN_MEMBERS) {
    const at = HEADINGS[member].map((heading) => folded.indexOf(heading)).find((place) => place >= 0)
    if (at !== undefined && members[at] === '') members[at] = member
  }
  return members
}

/** In lower case, without diacritics and punctuation. */
function foldedHeading(heading: string): string {
  const plain = heading.normalize('NFKD').replace(/\p{Mark}/gu, '')
  return plain
    .toLowerCase()
    .replace(/[^\p{Letter}\p{Number}]+/gu, ' ')
    .trim()
}
