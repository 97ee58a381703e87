import {
  type FileFormat,
  type ImportFileOptions,
  PLANT_MEMBERS,
} from '../../../src/client/plant-store-client.ts'
import {
  COLUMN_MEMBERS,
  type ColumnMember,
  columnMembers,
  type Encoding,
  isWide,
} from '../../../src/plants/import/table-dialect.ts'
import { parseId } from '../parts/parse-id.ts'
import { type ImportSource, previewRows } from './import-source.ts'

export const ROLES = ['id', ...PLANT_MEMBERS] as const
/** What a column holds; '' is nothing that is imported. */
export type Role = ColumnMember | ''

export const CONFLICT_RULES = ['fail', 'skip', 'replace'] as const
export type ConflictRule = (typeof CONFLICT_RULES)[number]

/** How somebody wants a file to be understood. */
export interface ImportSettings {
  onConflict: ConflictRule
  /** What follows is about CSV. */
  encoding: Encoding
  hasHeader: boolean
  /** Of each column. */
  roles: readonly Role[]
  /** As it is typed. It counts where no column holds ids. */
  idStart: string
}

/** What the file itself says, as far as it does. */
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

/** What the names of the header row say, as the service reads them. The first of a kind counts. */
export function rolesOf(header: readonly string[]): Role[] {
  const members = columnMembers(header, COLUMN_MEMBERS)
  return members.map((member, at) => (members.indexOf(member) === at && member) || '')
}

/** Whether rows are to be numbered. */
export function isNumbered(format: FileFormat, { roles }: ImportSettings): boolean {
  return format === 'csv' && !roles.includes('id')
}

export type SettingsProblem = 'nameMissing' | 'twice' | 'idStartWrong'

/** What is missing before anything can be sent. */
export function problemOf(format: FileFormat, settings: ImportSettings): SettingsProblem | undefined {
  if (format === 'ndjson') return undefined
  const { roles } = settings
  if (!roles.includes('name')) return 'nameMissing'
  if (COLUMN_MEMBERS.some((role) => roles.indexOf(role) !== roles.lastIndexOf(role))) return 'twice'
  return isNumbered(format, settings) && parseId(settings.idStart) === undefined ? 'idStartWrong' : undefined
}

/** The options of an import of rows without a header row. */
export function importOptions(format: FileFormat, settings: ImportSettings): ImportFileOptions {
  const { onConflict, roles, encoding, idStart } = settings
  if (format === 'ndjson') return { format, onConflict }
  return {
    format,
    onConflict,
    // Any other name is that of a column that is ignored.
    columns: roles.map((role) => role || '-'),
    idStart: isNumbered(format, settings) ? parseId(idStart) : undefined,
    // What is wide is sent as UTF-8.
    encoding: encoding === 'utf-8' || isWide(encoding) ? undefined : encoding,
  }
}
