import { type Command, Option } from 'commander'
import { PLANT_MEMBERS, type StoredPlant } from '../../client/plant-types.ts'
import { printable, printableLines } from '../../printable.ts'
import type { OutputStream } from '../command-context.ts'
import { print } from './standard-output.ts'
import { createTable } from './table.ts'

/** The printed members of a plant. The response to a create has no times. */
export type ShownPlant = Omit<StoredPlant, 'createdAt' | 'updatedAt'> &
  Partial<Pick<StoredPlant, 'createdAt' | 'updatedAt'>> & { etag?: string }

export interface JsonFlag {
  json?: true
}
export interface RowsFlags extends JsonFlag {
  csv?: true
}

export function addJsonOption(command: Command): Command {
  return command.option('--json', 'Print JSON')
}

export function addRowsOptions(command: Command): Command {
  return command
    .addOption(new Option('--json', 'Print a JSON object per line (NDJSON)').conflicts('csv'))
    .addOption(new Option('--csv', 'Print CSV with a header row'))
}

/** An object as a line of JSON, its exact id first, harmless on a terminal. */
function jsonLine({ id, ...others }: { id: bigint } & object): string {
  return `{"id":${id},${printableLines(JSON.stringify(others)).slice(1)}\n`
}

/** A row of CSV (RFC 4180). Cells with commas, quotation marks, line breaks or outer spaces are quoted. */
export function csvLine(stdout: OutputStream, cells: readonly (string | undefined)[]): string {
  const line = cells.map((cell) => (cell === undefined ? '' : csvCell(cell))).join(',')
  // CSV has no escapes, so they are for a terminal only.
  return `${stdout.isTTY ? printableLines(line) : line}\r\n`
}

function csvCell(text: string): string {
  return text === '' || /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** Prints a plant: a line for each member on a terminal, one line with tabs when piped. */
export async function printPlant(stdout: OutputStream, plant: ShownPlant, { json }: JsonFlag): Promise<void> {
  const { etag, ...stored } = plant
  if (json) return print(stdout, jsonLine(plant))
  const { id, createdAt, updatedAt } = stored
  if (!stdout.isTTY) {
    const times = [createdAt, updatedAt].filter((time) => time !== undefined)
    return print(stdout, createTable([], stdout)([[String(id), ...contentCells(stored), ...times]]))
  }
  const lines = [
    ['id', String(id)] as const,
    ...PLANT_MEMBERS.map((member) => [member, stored[member]] as const),
    ...Object.entries({ created: createdAt, updated: updatedAt, etag }),
  ]
    .filter(([, value]) => value !== undefined)
    .map(([member, value = '']) => `${member.padEnd('updated'.length)}  ${printable(value)}`.trimEnd())
  await print(stdout, `${lines.join('\n')}\n`)
}

/** Prints pages of plants: a table on a terminal, lines with tabs when piped, or the format of the flags. */
export function createPlantPrinter(
  stdout: OutputStream,
  { json, csv }: RowsFlags,
): (plants: readonly StoredPlant[]) => Promise<void> {
  if (json) return (plants) => print(stdout, plants.map(jsonLine).join(''))
  if (csv) return createCsvPrinter(stdout)
  const table = createTable(
    [
      { title: 'ID', isNumber: true },
      ...PLANT_MEMBERS.map((member) => ({ title: member.toUpperCase(), isTruncatable: true })),
      { title: 'UPDATED' },
    ],
    stdout,
  )
  const row = stdout.isTTY
    ? (plant: StoredPlant) => [String(plant.id), ...contentCells(plant), shortTime(plant.updatedAt)]
    : (plant: StoredPlant) => [String(plant.id), ...contentCells(plant), plant.createdAt, plant.updatedAt]
  return (plants) => print(stdout, table(plants.map(row)))
}

function createCsvPrinter(stdout: OutputStream): (plants: readonly StoredPlant[]) => Promise<void> {
  let header = csvLine(stdout, ['id', ...PLANT_MEMBERS, 'createdAt', 'updatedAt'])
  return (plants) => {
    const lines = plants.map((plant) =>
      csvLine(stdout, [
        String(plant.id),
        ...PLANT_MEMBERS.map((member) => plant[member]),
        plant.createdAt,
        plant.updatedAt,
      ]),
    )
    const text = header + lines.join('')
    header = ''
    return print(stdout, text)
  }
}

/** The members of the content; an absent one is empty. */
function contentCells(plant: ShownPlant): string[] {
  return PLANT_MEMBERS.map((member) => plant[member] ?? '')
}

/** An RFC 3339 time in UTC, to the minute: `2026-11-28T06:59Z` (ISO 8601). */
export function shortTime(time: string): string {
  return `${time.slice(0, 16)}Z`
}
