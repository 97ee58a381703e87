import { RequestError } from '../../../src/client/plant-store-client.ts'
import { failureText } from './failure-text.ts'

const FIELD_WRONG = 40003

/** What is wrong, beside the field that it is about; '' is the form as a whole. */
export type Problems<Field extends string> = Partial<Record<Field | '', string>>

/** Why something was not done: where the service refused fields, its own words, each beside its field. */
export function problemsIn<Field extends string>(error: unknown, fields: readonly Field[]): Problems<Field> {
  const isField = error instanceof RequestError && error.code === FIELD_WRONG
  if (!isField) return { '': failureText(error) } as Problems<Field>
  const found: Record<string, string> = {}
  for (const part of error.message.split('; ')) {
    const field = fields.find((name) => part.startsWith(`${name} `)) ?? ''
    found[field] = found[field] === undefined ? part : `${found[field]}; ${part}`
  }
  return found as Problems<Field>
}
