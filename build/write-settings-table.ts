// Writes the table of docs/settings.md from the settings: npm run settings-table
import { readFileSync, writeFileSync } from 'node:fs'
import { flagOf, type SettingName, variableOf } from '../src/config/read-config.ts'
import { SETTINGS } from '../src/config/settings.ts'

const PAGE = new URL('../docs/settings.md', import.meta.url)
const TABLE = /(?<=<!-- settings -->\n).*(?=<!-- \/settings -->)/s

/** The page with the table of these settings between its markers. */
export function withSettingsTable(page: string): string {
  const rows = Object.entries(SETTINGS).map(([name, setting]) => {
    const variable = `\`${variableOf(name as SettingName)}\``
    // Flags of a process are visible to every user of the machine.
    const flag =
      setting.type === 'secret'
        ? 'none: others could read it in the list of processes'
        : `\`${flagOf(name as SettingName)}\``
    const preset = 'default' in setting ? `\`${setting.default}\`` : ''
    return `| ${variable} | ${flag} | ${preset} | ${setting.about} |\n`
  })
  return page.replace(
    TABLE,
    () => `| variable | flag | default | what it is |\n|---|---|---|---|\n${rows.join('')}`,
  )
}

if (import.meta.main) writeFileSync(PAGE, withSettingsTable(readFileSync(PAGE, 'utf8')))
