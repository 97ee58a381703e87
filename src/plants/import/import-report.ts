import type { AppError } from '../../errors.ts'
import type { RowFailure } from './import-rows.ts'
import type { ImportCounts } from './run-import.ts'

/** The maximum number of failed rows that a report lists. All of them are counted. */
export const REPORTED_ERRORS_MAX = 1_000

const COUNT = { type: 'integer', minimum: 0 } as const

const COUNT_MEMBERS = {
  created: { ...COUNT, description: 'Plants created' },
  replaced: { ...COUNT, description: 'Plants replaced' },
  skipped: { ...COUNT, description: 'Rows skipped, because their id is already used' },
  failed: { ...COUNT, description: 'Rows that failed' },
} as const

/** The counts of an import, in the details of its failure. */
export const ImportCountsSchema = {
  type: 'object',
  required: ['created', 'replaced', 'skipped', 'failed'],
  properties: COUNT_MEMBERS,
} as const

const LINE = { type: 'integer', minimum: 1 } as const
const MESSAGE = { type: 'string', description: 'What is wrong with the row' } as const
const CODE = { type: 'integer', format: 'int32', description: 'Numeric error code' } as const

const ERROR_MEMBERS = {
  line: { ...LINE, description: 'The line on which the row begins, from 1' },
  id: { type: 'integer', format: 'int64', description: 'The id of the row, if it has a valid one' },
  error: CODE,
  message: MESSAGE,
  fields: {
    type: 'array',
    items: { $ref: '#/components/schemas/FieldError' },
    description: 'The fields that fail validation. Absent if the row failed for another reason.',
  },
} as const

/** A failed row. */
export const ImportErrorSchema = {
  type: 'object',
  required: ['line', 'error', 'message'],
  properties: ERROR_MEMBERS,
} as const

/** The result of an import. */
export const ImportReportSchema = {
  type: 'object',
  required: ['created', 'replaced', 'skipped', 'failed', 'errors'],
  properties: {
    ...COUNT_MEMBERS,
    errors: {
      type: 'array',
      maxItems: REPORTED_ERRORS_MAX,
      items: { $ref: '#/components/schemas/ImportError' },
      description: `The first ${REPORTED_ERRORS_MAX.toLocaleString('en')} failed rows`,
    },
  },
} as const

/** A line of a response that reports an import while it runs. */
export const ImportEventSchema = {
  oneOf: [
    {
      type: 'object',
      description: 'Progress: every row before `line` was stored, skipped or reported as failed',
      required: ['type', 'line', 'created', 'replaced', 'skipped', 'failed'],
      properties: { type: { const: 'progress' }, line: LINE, ...COUNT_MEMBERS },
    },
    {
      type: 'object',
      description: 'A failed row',
      required: ['type', 'line', 'error', 'message'],
      properties: { type: { const: 'error' }, ...ERROR_MEMBERS },
    },
    {
      type: 'object',
      description: 'The last line of an import that read every row',
      required: ['type', 'created', 'replaced', 'skipped', 'failed'],
      properties: { type: { const: 'report' }, ...COUNT_MEMBERS },
    },
    {
      type: 'object',
      description: 'The last line of an import that failed',
      required: ['type', 'error', 'message', 'details'],
      properties: {
        type: { const: 'failure' },
        error: CODE,
        message: { type: 'string', description: 'What ended the import' },
        details: {
          $ref: '#/components/schemas/ErrorDetails',
          description: 'The progress of the import when it failed',
        },
      },
    },
  ],
} as const

// Written by hand, because `JSON.stringify` does not support bigint ids.

export function reportJson(counts: Readonly<ImportCounts>, errors: readonly RowFailure[]): string {
  return `{${countMembers(counts)},"errors":[${errors.map((error) => `{${errorMembers(error)}}`).join(',')}]}`
}

export function progressLine(counts: Readonly<ImportCounts>, line: number): string {
  return `{"type":"progress","line":${line},${countMembers(counts)}}\n`
}

export function errorLine(failure: RowFailure): string {
  return `{"type":"error",${errorMembers(failure)}}\n`
}

export function reportLine(counts: Readonly<ImportCounts>): string {
  return `{"type":"report",${countMembers(counts)}}\n`
}

export function failureLine({ code, message, details = {} }: AppError): string {
  return `${JSON.stringify({ type: 'failure', error: code, message, details })}\n`
}

function countMembers({ created, replaced, skipped, failed }: Readonly<ImportCounts>): string {
  return `"created":${created},"replaced":${replaced},"skipped":${skipped},"failed":${failed}`
}

function errorMembers({ line, id, code, message, fields }: RowFailure): string {
  const idMember = id === undefined ? '' : `"id":${id},`
  const fieldsMember = fields === undefined ? '' : `,"fields":${JSON.stringify(fields)}`
  return `"line":${line},${idMember}"error":${code},"message":${JSON.stringify(message)}${fieldsMember}`
}
