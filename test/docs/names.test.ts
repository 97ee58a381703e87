import assert from 'node:assert/strict'
import { test } from 'node:test'
import { withSettingsTable } from '../../build/write-settings-table.ts'
import { type SettingName, variableOf } from '../../src/config/read-config.ts'
import { SETTINGS } from '../../src/config/settings.ts'
import { ERRORS, FIELD_RULES, WRITE_OUTCOMES } from '../../src/errors.ts'
import { read } from '../support/source-imports.ts'
import { GUIDES } from './documents.ts'

const NAMES = Object.keys(SETTINGS) as SettingName[]
const VARIABLES = new Set([...NAMES.map(variableOf), 'PLANTSTORE_URL', 'PLANTSTORE_TOKEN'])

/** Five digits that are not part of a longer number. */
const CODES = /(?<![\d,.])[45]\d\d0\d(?!\d)/g

test('every setting that a guide names exists', () => {
  for (const guide of GUIDES) {
    for (const [name] of read(guide).matchAll(/\bPLANTSTORE_[A-Z_]+\b/g))
      assert.ok(VARIABLES.has(name), `${guide}: ${name}`)
  }
})

test('the table of settings equals that of the program', () => {
  const page = read('docs/settings.md')
  assert.match(page, /`PLANTSTORE_DATABASE`/)
  assert.equal(page, withSettingsTable(page), 'run "npm run settings-table"')
})

test('every error code that a guide names exists, and the table of the API has them all', () => {
  for (const guide of GUIDES) {
    for (const [code] of read(guide).matchAll(CODES)) assert.ok(code in ERRORS, `${guide}: ${code}`)
  }
  const table = read('docs/api.md')
  const listed = new Set([...table.matchAll(CODES)].map(([code]) => code))
  const [, first = '', last = ''] = /(\d{5})–(\d{5})/.exec(table) ?? []
  for (let code = Number(first); code <= Number(last); code++) listed.add(String(code))
  assert.deepEqual([...listed].sort(), Object.keys(ERRORS).sort())
})

test('every metric that a guide names is in the table of metrics', () => {
  const table = read('docs/metrics.md')
  for (const guide of GUIDES) {
    for (const [name] of read(guide).matchAll(/\bplantstore_[a-z_]+\b/g))
      assert.ok(table.includes(`\`${name}`), `${guide}: ${name}`)
  }
})

test('the page of the API has every rule of a field and every outcome of a write', () => {
  for (const name of [...FIELD_RULES, ...WRITE_OUTCOMES])
    assert.ok(read('docs/api.md').includes(`\`${name}\``), name)
})
