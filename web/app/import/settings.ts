import type { FileFormat, ImportFileOptions } from '../../../src/client/plant-store-client.ts'
import {
  COLUMN_MEMBERS,
  type ColumnMember,
  columnMembers,
  type Encoding,
  isWide,
} from '../../../src/plants/import/table-dialect.ts'
import { parseId } from '../parts/parse-id.ts'
import { type ImportSource, previewRows } from './source.ts'

/** What a column contains; '' if it is ignored. */
export type Role = ColumnMember | ''

export const CONFLICT_RULES = ['fail', 'skip', 'replace'] as const
type ConflictRule = (typeof CONFLICT_RULES)[number]

/** How to read a file, and what to do with used ids. */
export interface ImportSettings {
  onConflict: ConflictRule
  /** This and all below: only for CSV. */
  encoding: Encoding
  hasHeader: boolean
  /** One for each column. */
  roles: readonly Role[]
  /** The text of the field. Used if no column contains ids. */
  idStart: string
}

/** The settings that the beginning of the file suggests. */
export function guessSettings(source: ImportSource, encoding = source.encoding): ImportSettings {
  const rows = source.format === 'csv' ? previewRows(source, encoding) : []
  const named = rolesOf(rows[0] ?? [])
  const hasHeader = named.some((role) => role !== '')
  const width = Math.max(0, ...rows.map(({ length }) => length))
  return {
    onConflict: 'fail',
    encoding,
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

/** Whether rows get consecutive ids. */
export function isNumbered(format: FileFormat, { roles }: ImportSettings): boolean {
  return format === 'csv' && !roles.includes('id')
}

export type SettingsProblem = 'nameMissing' | 'twice' | 'idStartWrong'

/** What must be corrected before the import. */
export function problemOf(format: FileFormat, settings: ImportSettings): SettingsProblem | undefined {
  if (format === 'ndjson') return undefined
  const { roles } = settings
  if (!roles.includes('name')) return 'nameMissing'
  if (COLUMN_MEMBERS.some((role) => roles.indexOf(role) !== roles.lastIndexOf(role))) return 'twice'
  return isNumbered(format, settings) && parseId(settings.idStart) === undefined ? 'idStartWrong' : undefined
}

/** The options for a body without a header row. */
export function optionsOf(format: FileFormat, settings: ImportSettings): ImportFileOptions {
  const { onConflict, roles, encoding, idStart } = settings
  if (format === 'ndjson') return { format, onConflict }
  return {
    format,
    onConflict,
    // The service ignores columns with unknown names.
    columns: roles.map((role) => role || '-'),
    idStart: isNumbered(format, settings) ? parseId(idStart) : undefined,
    // UTF-16 is converted to UTF-8 here.
    encoding: encoding === 'utf-8' || isWide(encoding) ? undefined : encoding,
  }
}
