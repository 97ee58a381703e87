import { type Command, Option } from 'commander'
import { PLANT_MEMBERS, type StoredPlant } from '../../client/plant-types.ts'
import { printable, printableLines } from './printable.ts'
import { print } from './standard-output.ts'
import { createTable } from './table.ts'

/** What is told of a plant; of one that was just added the times are not known. */
export type ShownPlant = Omit<StoredPlant, 'createdAt' | 'updatedAt'> &
  Partial<Pick<StoredPlant, 'createdAt' | 'updatedAt'>> & { etag?: string }

export interface JsonFlag {
  json?: true
}
export interface RowsFlags extends JsonFlag {
  csv?: true
}

export function addJsonOption(command: Command): Command {
  return command.option('--json', 'exact, as JSON on one line')
}

export function addRowsOptions(command: Command): Command {
  return command
    .addOption(new Option('--json', 'exact, a JSON object a line (NDJSON)').conflicts('csv'))
    .addOption(new Option('--csv', 'exact, as CSV with a header'))
}

/** The JSON of anything with an exact id first, harmless on a terminal. */
export function jsonLine({ id, ...others }: { id: bigint } & object): string {
  return `{"id":${id},${printableLines(JSON.stringify(others)).slice(1)}\n`
}

/** A row of CSV (RFC 4180). What only reads so is quoted: commas, quotation marks, line breaks, outer spaces. */
export function csvLine(cells: readonly (string | undefined)[]): string {
  const line = cells.map((cell) => (cell === undefined ? '' : csvCell(cell))).join(',')
  // CSV has no escapes: what is unfit for a terminal stays out of it, and is kept everywhere else.
  return `${process.stdout.isTTY ? printableLines(line) : line}\r\n`
}

function csvCell(text: string): string {
  return text === '' || /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** Prints one plant: a line for each member on a terminal, all in one line with tabs when piped. */
export async function printPlant(plant: ShownPlant, { json }: JsonFlag): Promise<void> {
  const { etag, ...stored } = plant
  if (json) return print(jsonLine(stored))
  const { id, createdAt, updatedAt } = stored
  if (!process.stdout.isTTY) {
    const times = [createdAt, updatedAt].filter((time) => time !== undefined)
    return print(createTable([])([[String(id), ...contentCells(stored), ...times]]))
  }
  const lines = [
    ['id', String(id)] as const,
    ...PLANT_MEMBERS.map((member) => [member, stored[member]] as const),
    ...Object.entries({ created: createdAt, updated: updatedAt, etag }),
  ]
    .filter(([, value]) => value !== undefined)
    .map(([member, value = '']) => `${member.padEnd('updated'.length)}  ${printable(value)}`.trimEnd())
  await print(`${lines.join('\n')}\n`)
}

/** Prints plants as they come: a table on a terminal, lines with tabs when piped, or what the flags say. */
export function createPlantPrinter({
  json,
  csv,
}: RowsFlags): (plants: readonly StoredPlant[]) => Promise<void> {
  if (json) return (plants) => print(plants.map(jsonLine).join(''))
  if (csv) return createCsvPrinter()
  const table = createTable([
    { title: 'ID', isNumber: true },
    ...PLANT_MEMBERS.map((member) => ({ title: member.toUpperCase(), mayBeCut: true })),
    { title: 'UPDATED' },
  ])
  const row = process.stdout.isTTY
    ? (plant: StoredPlant) => [String(plant.id), ...contentCells(plant), shortTime(plant.updatedAt)]
    : (plant: StoredPlant) => [String(plant.id), ...contentCells(plant), plant.createdAt, plant.updatedAt]
  return (plants) => print(table(plants.map(row)))
}

function createCsvPrinter(): (plants: readonly StoredPlant[]) => Promise<void> {
  let header = csvLine(['id', ...PLANT_MEMBERS, 'createdAt', 'updatedAt'])
  return (plants) => {
    const lines = plants.map((plant) =>
      csvLine([
        String(plant.id),
        ...PLANT_MEMBERS.map((member) => plant[member]),
        plant.createdAt,
        plant.updatedAt,
      ]),
    )
    const text = header + lines.join('')
    header = ''
    return print(text)
  }
}

/** The members of the content; an absent one is empty. */
function contentCells(plant: ShownPlant): string[] {
  return PLANT_MEMBERS.map((member) => plant[member] ?? '')
}

/** `2026-11-28 06:59`, UTC, of what RFC 3339 writes with a T and more digits. */
export function shortTime(time: string): string {
  return time.slice(0, 16).replace('T', ' ')
}
