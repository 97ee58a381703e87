import { type FieldProblem, invalidFields } from '../errors.ts'
import {
  isScope,
  LABEL_CHARACTERS_MAX,
  type NewToken,
  NewTokenSchema,
  SCOPES,
  TIME_MS_MAX,
  UNFIT_FOR_A_LINE,
} from './token.ts'
import { unknownMembers } from './unknown-members.ts'

const SCOPES_ADVICE = `Name one or more of ${SCOPES.join(', ')}.`

/** Parses the properties of a new token; throws 40003 with every invalid field and its rule. */
export function parseNewToken(body: unknown, nowMs: number): NewToken {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw invalidFields([{ name: '', rule: 'object', message: 'The body must be a JSON object.' }])
  }
  const { label = '', scopes, expiresAt } = body as { label?: unknown; scopes?: unknown; expiresAt?: unknown }
  const expiresAtMs = parseTime(expiresAt)
  const problems = [
    labelProblem(label),
    scopesProblem(scopes),
    expiresAt === undefined ? undefined : expiryProblem(expiresAtMs, nowMs),
    ...unknownMembers(body, NewTokenSchema),
  ].filter((problem) => problem !== undefined)
  if (problems.length > 0) throw invalidFields(problems)
  const wanted: NewToken = { label: label as string, scopes: [...new Set(scopes as NewToken['scopes'])] }
  return expiresAtMs === undefined ? wanted : { ...wanted, expiresAtMs }
}

function labelProblem(label: unknown): FieldProblem | undefined {
  const name = 'label'
  if (typeof label !== 'string') return { name, rule: 'string', message: 'label must be a string.' }
  if ([...label].length > LABEL_CHARACTERS_MAX) {
    return {
      name,
      rule: 'max-length',
      message: `label must have at most ${LABEL_CHARACTERS_MAX} characters.`,
    }
  }
  if (label.search(UNFIT_FOR_A_LINE) < 0) return undefined
  return { name, rule: 'single-line', message: 'label must be a single line without control characters.' }
}

function scopesProblem(scopes: unknown): FieldProblem | undefined {
  const name = 'scopes'
  if (scopes === undefined) return { name, rule: 'required', message: `scopes is required. ${SCOPES_ADVICE}` }
  if (!Array.isArray(scopes))
    return { name, rule: 'array', message: `scopes must be an array. ${SCOPES_ADVICE}` }
  if (scopes.length === 0) return { name, rule: 'min-items', message: `scopes is empty. ${SCOPES_ADVICE}` }
  if (scopes.every(isScope)) return undefined
  return { name, rule: 'one-of', message: `scopes has an unknown scope. ${SCOPES_ADVICE}` }
}

function expiryProblem(timeMs: number | undefined, nowMs: number): FieldProblem | undefined {
  const name = 'expiresAt'
  if (timeMs === undefined) {
    const message = 'expiresAt must be an RFC 3339 time, such as 2030-01-31T12:00:00Z.'
    return { name, rule: 'date-time', message }
  }
  return timeMs > nowMs ? undefined : { name, rule: 'future', message: 'expiresAt must be in the future.' }
}

function parseTime(text: unknown): number | undefined {
  if (typeof text !== 'string') return undefined
  const date = /^(\d{4}-\d\d-\d\d)T(?:[01]\d|2[0-3]):\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/i.exec(text)?.[1]
  // Date.parse reads February 30 as March 2.
  if (date === undefined || !isDate(date)) return undefined
  const timeMs = Date.parse(text)
  return Number.isNaN(timeMs) || timeMs > TIME_MS_MAX ? undefined : timeMs
}

function isDate(text: string): boolean {
  const timeMs = Date.parse(text)
  return !Number.isNaN(timeMs) && new Date(timeMs).toISOString().startsWith(text)
}
