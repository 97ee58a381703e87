import type { ErrorCode } from '../../errors.ts'
import type { RowFailure } from './import-rows.ts'
import type { ImportCounts } from './run-import.ts'

/** What a report lists of the rows that failed: enough to mend a file by, and bounded. All of them are counted. */
export const REPORTED_ERRORS_MAX = 1_000

const COUNT = { type: 'integer', minimum: 0 } as const

const COUNT_MEMBERS = {
  created: { ...COUNT, description: 'Plants that were added' },
  replaced: { ...COUNT, description: 'Plants that were stored already, and are replaced' },
  skipped: { ...COUNT, description: 'Rows that were passed over, as their id is taken' },
  failed: { ...COUNT, description: 'Rows that were refused' },
} as const

const LINE = { type: 'integer', minimum: 1 } as const
const MESSAGE = { type: 'string', description: 'What is wrong with the row' } as const
const CODE = { type: 'integer', format: 'int32', description: 'Numeric error code' } as const

const ERROR_MEMBERS = {
  line: { ...LINE, description: 'The line of the text on which the row begins' },
  id: { type: 'integer', format: 'int64', description: 'The id of the row, where it has a legible one' },
  error: CODE,
  message: MESSAGE,
} as const

/** A row that was refused. */
export const ImportErrorSchema = {
  type: 'object',
  required: ['line', 'error', 'message'],
  properties: ERROR_MEMBERS,
} as const

/** What became of the rows of an import. */
export const ImportReportSchema = {
  type: 'object',
  required: ['created', 'replaced', 'skipped', 'failed', 'errors'],
  properties: {
    ...COUNT_MEMBERS,
    errors: {
      type: 'array',
      maxItems: REPORTED_ERRORS_MAX,
      items: { $ref: '#/components/schemas/ImportError' },
      description: `The first ${REPORTED_ERRORS_MAX.toLocaleString('en')} rows that were refused`,
    },
  },
} as const

/** A line of an answer that tells of an import while it runs. */
export const ImportEventSchema = {
  oneOf: [
    {
      type: 'object',
      description: 'How far it is: every row before the line is stored, or an error told of it',
      required: ['type', 'line', 'created', 'replaced', 'skipped', 'failed'],
      properties: { type: { const: 'progress' }, line: LINE, ...COUNT_MEMBERS },
    },
    {
      type: 'object',
      description: 'A row that was refused',
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
      description: 'The last line of an import that could not go on',
      required: ['type', 'error', 'message'],
      properties: {
        type: { const: 'failure' },
        error: CODE,
        message: { type: 'string', description: 'What is wrong, and how far the import got' },
      },
    },
  ],
} as const

// Written by hand, as `JSON.stringify` takes no bigint.

export function reportJson(counts: Readonly<ImportCounts>, errors: readonly RowFailure[]): string {
  return `{${countMembers(counts)},"errors":[${errors.map((error) => `{${errorMembers(error)}}`).join(',')}]}`
}

export function progressLine(counts: Readonly<ImportCounts>, line: number): string {
  return `{"type":"progress","line":${line},${countMembers(counts)}}\n`
}

export function errorLine(refusal: RowFailure): string {
  return `{"type":"error",${errorMembers(refusal)}}\n`
}

export function reportLine(counts: Readonly<ImportCounts>): string {
  return `{"type":"report",${countMembers(counts)}}\n`
}

export function failureLine(code: ErrorCode, message: string): string {
  return `{"type":"failure","error":${code},"message":${JSON.stringify(message)}}\n`
}

function countMembers({ created, replaced, skipped, failed }: Readonly<ImportCounts>): string {
  return `"created":${created},"replaced":${replaced},"skipped":${skipped},"failed":${failed}`
}

function errorMembers({ line, id, code, message }: RowFailure): string {
  const idMember = id === undefined ? '' : `"id":${id},`
  return `"line":${line},${idMember}"error":${code},"message":${JSON.stringify(message)}`
}
