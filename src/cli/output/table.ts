import { styleText } from 'node:util'
import { printable } from '../../printable.ts'
import type { OutputStream } from '../command-context.ts'
import { textWidth } from './text-width.ts'

export interface TableColumn {
  title: string
  /** Numbers are aligned at their end. */
  isNumber?: boolean
  /** Whether a long cell may be truncated in a narrow terminal. */
  isTruncatable?: boolean
}

const GAP = '  '
/** Shorter cells are useless. */
const TRUNCATED_WIDTH_MIN = 8
/** Wider than any terminal. A name may have a million characters. */
const CELL_CHARACTERS_MAX = 1_000

/**
 * Formats rows: on a terminal as an aligned table with a header; in a pipe as tab-separated fields without a header,
 * for `cut` and `awk`. No cell breaks its line or controls the terminal. The first rows set the widths, so that they
 * can be printed before the last ones arrive.
 */
export function createTable(
  columns: readonly TableColumn[],
  stream: OutputStream,
): (rows: readonly (readonly string[])[]) => string {
  if (!stream.isTTY) return (rows) => rows.map((row) => `${row.map(printable).join('\t')}\n`).join('')
  let widths: number[] | undefined
  return (rows) => {
    const shown = rows.map((row) => row.map(shownCell))
    const isFirst = widths === undefined
    // Some terminals report a width of 0.
    widths ??= fittingWidths(columns, shown, stream.columns || Number.POSITIVE_INFINITY)
    const fixed = widths
    const lines = shown.map((row) => line(columns, fixed, row))
    if (isFirst) {
      const titles = columns.map(({ title }) => title)
      lines.unshift(styleText('bold', line(columns, fixed, titles), { stream }))
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
    rows.reduce((widest, row) => Math.max(widest, textWidth(row[at] ?? '')), textWidth(title)),
  )
  for (;;) {
    const excess = widths.reduce((sum, width) => sum + width, GAP.length * (widths.length - 1)) - widthMax
    if (excess <= 0) return widths
    const truncatable = widths.map((width, at) => (columns[at]?.isTruncatable ? width : 0))
    const widest = Math.max(...truncatable)
    if (widest <= TRUNCATED_WIDTH_MIN) return widths
    const second = Math.max(TRUNCATED_WIDTH_MIN, ...truncatable.filter((width) => width < widest))
    widths[truncatable.indexOf(widest)] = Math.max(widest - excess, Math.min(second, widest - 1))
  }
}

function line(columns: readonly TableColumn[], widths: readonly number[], row: readonly string[]): string {
  const cells = columns.map(({ isNumber, isTruncatable }, at) => {
    const width = widths[at] ?? 0
    const text = isTruncatable ? truncate(row[at] ?? '', width) : (row[at] ?? '')
    const padding = ' '.repeat(Math.max(0, width - textWidth(text)))
    return isNumber ? padding + text : text + padding
  })
  return cells.join(GAP).trimEnd()
}

/** Shortens the text to a width in columns, between grapheme clusters. */
function truncate(text: string, width: number): string {
  if (textWidth(text) <= width) return text
  let head = ''
  let used = 0
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    used += textWidth(segment)
    if (used >= width) break
    head += segment
  }
  return `${head}…`
}
