import { type ImportRowError, RequestError } from '../../../src/client/plant-store-client.ts'

/** A failed row of a slice, with its line number in the file. */
export function withFileLine(error: ImportRowError, linesBefore: number): ImportRowError {
  return { ...error, line: error.line + linesBefore }
}

/** The error of a slice, with line numbers of the file. */
export function withFileLines(error: unknown, linesBefore: number): unknown {
  if (!(error instanceof RequestError) || error.kind !== 'service') return error
  const { message, details } = error
  const { line, fields } = details
  return new RequestError(message, {
    ...error,
    cause: error,
    details: {
      ...details,
      ...(line !== undefined && { line: line + linesBefore }),
      ...(fields && {
        fields: fields.map((field) =>
          field.line === undefined ? field : { ...field, line: field.line + linesBefore },
        ),
      }),
    },
  })
}
