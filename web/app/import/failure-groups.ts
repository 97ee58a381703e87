import type { FieldError, ImportRowError } from '../../../src/client/plant-store-client.ts'
import { importTexts } from './texts.ts'

/** Failed rows with the same reason. */
export interface FailureGroup {
  rows: readonly ImportRowError[]
  reason: string
}

/** So few rows with the same reason are shown one by one. */
const SINGLE_ROWS_MAX = 3
/** Not valid JSON, or not valid CSV. */
const MALFORMED = 40002
const ID_RULES: readonly FieldError['rule'][] = ['int64', 'integer', 'min', 'max']

/** Groups the failed rows by reason, in the order of the first row of each. */
export function groupFailures(errors: readonly ImportRowError[]): FailureGroup[] {
  const byReason = new Map<string, ImportRowError[]>()
  for (const row of errors) {
    const reason = failureReason(row.error, row.message, row.fields)
    const rows = byReason.get(reason)
    if (rows === undefined) byReason.set(reason, [row])
    else rows.push(row)
  }
  return [...byReason]
    .flatMap(([reason, rows]) =>
      rows.length > SINGLE_ROWS_MAX ? [{ reason, rows }] : rows.map((row) => ({ reason, rows: [row] })),
    )
    .sort((one, other) => (one.rows[0]?.line ?? 0) - (other.rows[0]?.line ?? 0))
}

/** Why a row failed, for people. The message of the service is for programmers: it is shown only for unknown rules. */
export function failureReason(code: number, message: string, fields: readonly FieldError[] = []): string {
  const [field] = fields
  if (field?.rule === 'utf-8') return importTexts.notUtf8
  if (code === MALFORMED && field === undefined) return importTexts.notJson
  if (field?.name === 'id' && ID_RULES.includes(field.rule)) return importTexts.idWrong
  if (field?.rule === 'required' && (field.name === 'id' || field.name === 'name')) {
    return importTexts.missing[field.name]
  }
  return message
}
