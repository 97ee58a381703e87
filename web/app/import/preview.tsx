import { COLUMN_MEMBERS } from '../../../src/plants/import/table-dialect.ts'
import { shownText } from '../parts/shown-text.ts'
import { guessRoles, type ImportSettings, type Role } from './settings.ts'
import { type ImportSource, PREVIEW_ROWS, previewRows } from './source.ts'
import { importTexts } from './texts.ts'

/** Later columns are shown only if they are imported. */
const SHOWN_COLUMNS_MAX = 12
/** Longer cells are truncated, to keep the page fast. */
const SHOWN_CHARACTERS = 120

interface PreviewProps {
  source: ImportSource
  settings: ImportSettings
  onChange(change: Partial<ImportSettings>): void
}

/** The first rows. In a table, also a choice of what each column contains. */
export function Preview({ source, settings, onChange }: PreviewProps) {
  const { roles, hasHeader } = settings
  const isTable = source.format === 'csv'
  const rows = previewRows(source, settings)
  const header = isTable && hasHeader ? (rows[0] ?? []) : []
  const shown = rows.slice(isTable && hasHeader ? 1 : 0).slice(0, PREVIEW_ROWS)
  const columns = isTable
    ? [...roles.keys()].filter((at) => at < SHOWN_COLUMNS_MAX || roles[at] !== '')
    : [0, 1, 2]
  const setRole = (column: number, role: Role) =>
    onChange({ roles: roles.map((before, at) => (at === column ? role : before)) })
  return (
    <div class="field">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the table scrolls with the keyboard, too */}
      <section class="preview" tabIndex={0} aria-label={importTexts.preview}>
        <table>
          <thead>
            <tr>
              {columns.map((at) => (
                <th key={at} scope="col">
                  {isTable ? (
                    <RoleChoice
                      name={shownText(header[at] ?? '', '', SHOWN_CHARACTERS)}
                      at={at}
                      role={roles[at] ?? ''}
                      onRole={(role) => setRole(at, role)}
                    />
                  ) : (
                    importTexts.roles[COLUMN_MEMBERS[at] ?? '']
                  )}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {shown.map((cells, row) => (
              <tr key={row}>
                {columns.map((at) => (
                  <td key={at} class={isTable && roles[at] === '' ? 'ignored' : undefined} dir="auto">
                    {shownText(cells[at] ?? '', '', SHOWN_CHARACTERS)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      {isTable && roles.length > columns.length && (
        <p class="hint">{importTexts.moreColumns(roles.length - columns.length)}</p>
      )}
    </div>
  )
}

interface RoleChoiceProps {
  name: string
  at: number
  role: Role
  onRole(role: Role): void
}

function RoleChoice({ name, at, role, onRole }: RoleChoiceProps) {
  return (
    <>
      {name !== '' && (
        <span class="column-name" dir="auto">
          {name}
        </span>
      )}
      <select
        aria-label={importTexts.column(at + 1, name)}
        value={role}
        onChange={({ currentTarget: { value } }) => onRole(COLUMN_MEMBERS.find((one) => one === value) ?? '')}
      >
        {([...COLUMN_MEMBERS, ''] as const).map((one) => (
          <option key={one} value={one}>
            {importTexts.roles[one]}
          </option>
        ))}
      </select>
    </>
  )
}

/** The settings with or without a header row. The names of the header row set the roles. */
export function withHeader(source: ImportSource, settings: ImportSettings, hasHeader: boolean) {
  const { roles } = settings
  if (!hasHeader) return { ...settings, hasHeader }
  const rows = previewRows(source, settings)
  const header = rows[0] ?? []
  const named = guessRoles(rows)
  const hasRoles = named.some((role) => role !== '')
  return { ...settings, hasHeader, roles: hasRoles ? named : header.map((_, at) => roles[at] ?? '') }
}
