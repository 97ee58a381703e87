import { type ImportRowError, RequestError } from '../../../src/client/plant-store-client.ts'

/** A failed row of a part of a file, with its line in the file. */
export function ofWholeFile(error: ImportRowError, linesBefore: number): ImportRowError {
  return { ...error, line: error.line + linesBefore }
}

/** Why a part of a file failed, with lines of the file. */
export function failureOfWholeFile(error: unknown, linesBefore: number): unknown {
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
