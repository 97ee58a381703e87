import assert from 'node:assert/strict'
import { test } from 'node:test'
import { groupFailures } from '../../web/app/import/failure-groups.ts'
import { importTexts } from '../../web/app/import/texts.ts'
import { parseId } from '../../web/app/parts/parse-id.ts'
import { secretIn } from '../../web/app/sign-in/secret-in.ts'

test('an id is read with groups of digits, as people and spreadsheets write it', () => {
  for (const text of ['5,000,000', '5.000.000', '5 000 000', '5\u00a0000\u00a0000', '5\u202f000\u202f000']) {
    assert.equal(parseId(text), 5_000_000n, text)
  }
  assert.equal(parseId("5'000'000"), 5_000_000n)
  assert.equal(parseId(' −1,234 '), -1234n)
  assert.equal(parseId('9,223,372,036,854,775,807'), 9223372036854775807n)
  for (const text of [
    '5,00',
    '5,000.000',
    '1.5',
    '5,,000',
    ',500',
    '12345,678',
    '9,223,372,036,854,775,808',
    '1e3',
  ]) {
    assert.equal(parseId(text), undefined, text)
  }
})

test('a token is found in what people copy with it', () => {
  const token = `plst_${'a'.repeat(49)}`
  for (const text of [
    token,
    ` ${token}\n`,
    `Bearer ${token}`,
    `Authorization: Bearer ${token}`,
    `"${token}"`,
    `export TOKEN=${token}`,
    `-H "Authorization: Bearer ${token}"`,
  ]) {
    assert.equal(secretIn(text), token, text)
  }
  assert.equal(secretIn('bearer eyJh.eyJz.c2ln'), 'eyJh.eyJz.c2ln')
  assert.equal(secretIn('fixed token'), 'fixed token')
  assert.equal(secretIn(' '), '')
})

test('a reason that many rows share is shown once, in words for people', () => {
  const row = (line: number, error = 40002) => ({ line, error, message: 'Unexpected token at position 0' })
  const many = Array.from({ length: 241 }, (_, at) => row(at + 2))
  const groups = groupFailures(many)
  assert.deepEqual(groups, [{ reason: importTexts.notJson, rows: many }])
  assert.equal(importTexts.failedLines(groups[0]?.rows ?? []), '241 rows, on lines 2, 3, 4, 5, 6 …')
  const wrongId = {
    line: 7,
    error: 40003,
    message: 'id must be …',
    fields: [{ name: 'id', rule: 'int64' as const }],
  }
  assert.deepEqual(
    groupFailures([row(9), wrongId, row(8)]).map(({ rows, reason }) => [
      importTexts.failedLines(rows),
      reason,
    ]),
    [
      ['Line 7', importTexts.idWrong],
      ['Line 8', importTexts.notJson],
      ['Line 9', importTexts.notJson],
    ],
  )
})
