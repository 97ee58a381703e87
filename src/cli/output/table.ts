import { styleText } from 'node:util'
import stringWidth from 'string-width'
import { printable } from './printable.ts'

export interface TableColumn {
  title: string
  /** Numbers end under each other. */
  isNumber?: boolean
  /** Whether what is long may be cut where the terminal is narrow. */
  mayBeCut?: boolean
}

const GAP = '  '
/** Less of a cell tells nothing. */
const CUT_WIDTH_MIN = 8
/** More of a cell fits no terminal; a name may have a million characters. */
const CELL_CHARACTERS_MAX = 1_000

/**
 * Gives rows for people: on a terminal as an aligned table under a header; piped as fields between tabs, a row
 * a line, without a header, as `cut` and `awk` want them. No cell breaks its line or controls the terminal.
 * The widths are those of the first rows that are given, so that the first ones need not wait for the last.
 */
export function createTable(
  columns: readonly TableColumn[],
  stream: { isTTY?: boolean; columns?: number } = process.stdout,
): (rows: readonly (readonly string[])[]) => string {
  if (!stream.isTTY) return (rows) => rows.map((row) => `${row.map(printable).join('\t')}\n`).join('')
  let widths: number[] | undefined
  return (rows) => {
    const shown = rows.map((row) => row.map(shownCell))
    const isFirst = widths === undefined
    // Some terminals say that they have no columns at all.
    widths ??= fittingWidths(columns, shown, stream.columns || Number.POSITIVE_INFINITY)
    const fixed = widths
    const lines = shown.map((row) => line(columns, fixed, row))
    if (isFirst) {
      const titles = columns.map(({ title }) => title)
      lines.unshift(styleText('bold', line(columns, fixed, titles), { stream: process.stdout }))
    }
    return lines.map((text) => `${text}\n`).join('')
  }
}

function shownCell(text: string): string {
  return printable(text.length > CELL_CHARACTERS_MAX ? `${text.slice(0, CELL_CHARACTERS_MAX)}…` : text)
}

function fittingWidths(
  columns: readonly TableColumn[],
  rows: readonly (readonly string[])[],
  widthMax: number,
): number[] {
  const widths = columns.map(({ title }, at) =>
    rows.reduce((widest, row) => Math.max(widest, stringWidth(row[at] ?? '')), stringWidth(title)),
  )
  for (;;) {
    const excess = widths.reduce((sum, width) => sum + width, GAP.length * (widths.length - 1)) - widthMax
    if (excess <= 0) return widths
    const cuttable = widths.map((width, at) => (columns[at]?.mayBeCut ? width : 0))
    const widest = Math.max(...cuttable)
    if (widest <= CUT_WIDTH_MIN) return widths
    const second = Math.max(CUT_WIDTH_MIN, ...cuttable.filter((width) => width < widest))
    widths[cuttable.indexOf(widest)] = Math.max(widest - excess, Math.min(second, widest - 1))
  }
}

function line(columns: readonly TableColumn[], widths: readonly number[], row: readonly string[]): string {
  const cells = columns.map(({ isNumber, mayBeCut }, at) => {
    const width = widths[at] ?? 0
    const text = mayBeCut ? cut(row[at] ?? '', width) : (row[at] ?? '')
    const padding = ' '.repeat(Math.max(0, width - stringWidth(text)))
    return isNumber ? padding + text : text + padding
  })
  return cells.join(GAP).trimEnd()
}

/** As much of the text as so many columns hold, by whole characters as people see them. */
function cut(text: string, width: number): string {
  if (stringWidth(text) <= width) return text
  let kept = ''
  let used = 0
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    used += stringWidth(segment)
    if (used >= width) break
    kept += segment
  }
  return `${kept}…`
}
