import { type FieldError, RequestError } from '../../../src/client/plant-store-client.ts'
import { failureText } from './failure-text.ts'

/** What is wrong, beside its field; '' is the form as a whole. */
export type Problems<Field extends string> = Partial<Record<Field | '', string>>

/** The rules that a form cannot check by itself, or does not. */
const RULE_TEXTS: Partial<Record<FieldError['rule'], string>> = {
  required: 'This is required.',
  'well-formed': 'This contains a character that cannot be stored.',
  'single-line': 'This must be a single line.',
  'max-length': 'This is too long.',
  unique: 'This is already used.',
  future: 'This must be in the future.',
}

/** Why something was not done: rejected fields each beside its field, anything else for the form as a whole. */
export function problemsIn<Field extends string>(error: unknown, fields: readonly Field[]): Problems<Field> {
  const rejected = error instanceof RequestError ? (error.details.fields ?? []) : []
  const found: Record<string, string> = {}
  for (const { name, rule } of rejected) {
    const text = RULE_TEXTS[rule]
    if (text !== undefined && fields.some((field) => field === name)) found[name] ??= text
    else found[''] = failureText(error)
  }
  if (rejected.length === 0) found[''] = failureText(error)
  return found as Problems<Field>
}
