import { FIELD_RULES, WRITE_OUTCOMES } from '../../errors.ts'

/** A field that fails validation, in an error and in the report of an import. */
export const FieldErrorSchema = {
  type: 'object',
  required: ['name', 'rule'],
  properties: {
    name: { type: 'string', description: 'The field; empty for the body or the row as a whole' },
    rule: { type: 'string', enum: FIELD_RULES, description: 'The rule that it violates' },
    line: { type: 'integer', minimum: 1, description: 'The line of the row in an import' },
  },
} as const

export const ErrorDetailsSchema = {
  type: 'object',
  properties: {
    fields: {
      type: 'array',
      items: { $ref: '#/components/schemas/FieldError' },
      description: 'The fields that fail validation',
    },
    parameter: { type: 'string', description: 'The path, query or header parameter at fault' },
    setting: { type: 'string', description: 'The setting of the service to change' },
    line: {
      type: 'integer',
      minimum: 1,
      description:
        'The line at which an import ended. Every row before it was stored, skipped or reported as failed.',
    },
    counts: {
      $ref: '#/components/schemas/ImportCounts',
      description: 'The counts of an import for the rows before `line`',
    },
    outcome: {
      type: 'string',
      enum: WRITE_OUTCOMES,
      description:
        'What a failed write stored: nothing (`none`), the rows of an import before `line` and none after ' +
        '(`stored-before-line`), or possibly anything (`unknown`)',
    },
  },
} as const

/** The body of every failed request. */
export const ErrorSchema = {
  type: 'object',
  required: ['error', 'message'],
  properties: {
    error: { type: 'integer', format: 'int32', description: 'Numeric error code' },
    message: { type: 'string', description: 'Error message text' },
    details: {
      $ref: '#/components/schemas/ErrorDetails',
      description: 'What programs need to handle the failure. Absent if there is nothing to add.',
    },
  },
} as const
