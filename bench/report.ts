import type { LoadReport } from './load.bench.ts'
import { medianOf, ratiosOf, type Spread } from './statistics.ts'

/** The part of the report on one load, in Markdown. */
export function loadSection({ load, contenders, residentMiB }: LoadReport): string {
  const ours = contenders[0]?.rounds.map(({ perSecond }) => perSecond) ?? []
  const rows = contenders.map(({ name, rounds }, at) => {
    const perSecond = rounds.map((round) => round.perSecond)
    return [
      name,
      whole(medianOf(perSecond)),
      at === 0 ? '' : spreadText(ratiosOf(ours, perSecond)),
      milliseconds(medianOf(rounds.map(({ p50Ms }) => p50Ms))),
      milliseconds(medianOf(rounds.map(({ p99Ms }) => p99Ms))),
      milliseconds(Math.max(...rounds.map(({ p99Ms }) => p99Ms))),
    ]
  })
  const head = ['', 'a second', 'ratio: ours / it (min–max)', 'p50 ms', 'p99 ms', 'worst p99 ms']
  return `## ${load}\n\n${table([head, ...rows])}\nOur service's memory afterwards: ${whole(residentMiB)} MiB.\n`
}

/** A Markdown table, padded so that it reads well as text too. The first row is its head. */
export function table(rows: string[][]): string {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(3, ...rows.map((row) => (row[column] ?? '').length)),
  )
  const lines = rows.map((row) => line(row.map((cell, column) => cell.padEnd(widths[column] ?? 0))))
  return [lines[0], line(widths.map((width) => '-'.repeat(width))), ...lines.slice(1), ''].join('\n')
}

function line(cells: string[]): string {
  return `| ${cells.join(' | ')} |`
}

export function spreadText({ median, min, max }: Spread): string {
  return `${median.toFixed(2)} (${min.toFixed(2)}–${max.toFixed(2)})`
}

export function whole(value: number): string {
  return Number.isNaN(value) ? '–' : Math.round(value).toLocaleString('en')
}

export function milliseconds(value: number): string {
  return Number.isNaN(value) ? '–' : value.toFixed(2)
}
