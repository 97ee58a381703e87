import type { FileFormat, ImportFileOptions } from '../../../src/client/plant-store-client.ts'
import { COLUMN_MEMBERS, type ColumnMember, columnMembers } from '../../../src/plants/import/table-dialect.ts'
import { guessHeadings } from '../../../src/plants/import/table-guess.ts'
import { parseId } from '../parts/parse-id.ts'
import { type ImportSource, isConverted, previewRows, type Reading } from './source.ts'

/** What a column contains; '' if it is ignored. */
export type Role = ColumnMember | ''

export const CONFLICT_RULES = ['fail', 'skip', 'replace'] as const
type ConflictRule = (typeof CONFLICT_RULES)[number]

/** How to read a file, and what to do with used ids. Only `onConflict` and `encoding` matter for NDJSON. */
export interface ImportSettings extends Reading {
  onConflict: ConflictRule
  hasHeader: boolean
  /** One for each column. */
  roles: readonly Role[]
  /** The text of the field. Used if no column contains ids. */
  idStart: string
}

/** The settings that the beginning of the file suggests. */
export function guessSettings(source: ImportSource, reading: Reading = source): ImportSettings {
  const { encoding, delimiter } = reading
  const rows = source.format === 'csv' ? previewRows(source, reading) : []
  const named = guessRoles(rows)
  const hasHeader = named.some((role) => role !== '')
  const width = Math.max(0, ...rows.map(({ length }) => length))
  return {
    onConflict: 'fail',
    encoding,
    delimiter,
    hasHeader,
    roles: hasHeader ? named : Array.from({ length: width }, () => ''),
    idStart: '',
  }
}

/** The roles by the names of the header row, as the service reads them. The first column of a name counts. */
export function rolesOf(header: readonly string[]): Role[] {
  const members = columnMembers(header, COLUMN_MEMBERS)
  return members.map((member, at) => (members.indexOf(member) === at && member) || '')
}

/**
 * The roles that the header row suggests. Other headings count unless there are columns id and name. A column without
 * whole numbers holds no ids.
 */
export function guessRoles(rows: readonly string[][]): Role[] {
  const [header = [], ...others] = rows
  const named = rolesOf(header)
  if (named.includes('name') && named.includes('id')) return named
  return guessHeadings(header).map((role, at) => (role === 'id' && !hasIds(others, at) ? '' : role))
}

/** A column without an id in so many rows has none. */
const CHECKED_ROWS = 1_000

/** An id as the service reads a cell. */
const ID_CELL = /^-?(?:0|[1-9]\d*)$/

/** Whether any row has an id in this column, or nothing. */
function hasIds(rows: readonly string[][], column: number): boolean {
  const cells = rows.map((cells) => cells[column] ?? '').filter((cell) => cell !== '')
  return cells.length === 0 || cells.some((cell) => ID_CELL.test(cell) && parseId(cell) !== undefined)
}

/** Whether rows get consecutive ids. */
export function isNumbered(format: FileFormat, { roles }: ImportSettings): boolean {
  return format === 'csv' && !roles.includes('id')
}

export type SettingsProblem = 'nameMissing' | 'twice' | 'idStartWrong' | 'notPlants' | 'notIds'

/** What must be corrected before the import: with it, no row could be right. */
export function problemOf(source: ImportSource, settings: ImportSettings): SettingsProblem | undefined {
  const { format } = source
  const { roles, hasHeader } = settings
  const rows = previewRows(source, settings, CHECKED_ROWS)
  if (format === 'ndjson')
    return rows.every(([id = ''], at) => id === '' || rows[at]?.length === 1) ? 'notPlants' : undefined
  if (!roles.includes('name')) return 'nameMissing'
  if (COLUMN_MEMBERS.some((role) => roles.indexOf(role) !== roles.lastIndexOf(role))) return 'twice'
  if (roles.includes('id') && !hasIds(hasHeader ? rows.slice(1) : rows, roles.indexOf('id'))) return 'notIds'
  return isNumbered(format, settings) && parseId(settings.idStart) === undefined ? 'idStartWrong' : undefined
}

/** The options for a body without a header row. */
export function optionsOf(source: ImportSource, settings: ImportSettings): ImportFileOptions {
  const { format } = source
  const { onConflict, roles, encoding, idStart } = settings
  if (format === 'ndjson') return { format, onConflict }
  return {
    format,
    onConflict,
    // The service ignores columns with unknown names.
    columns: roles.map((role) => role || '-'),
    idStart: isNumbered(format, settings) ? parseId(idStart) : undefined,
    // Converted text is UTF-8.
    encoding: encoding === 'utf-8' || isConverted(source, settings) ? undefined : encoding,
  }
}
