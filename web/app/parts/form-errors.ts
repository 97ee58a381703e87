import { type FieldError, RequestError } from '../../../src/client/plant-store-client.ts'
import { failureText } from './failure-text.ts'

/** Error texts by field; '' is the form as a whole. */
export type FormErrors<Field extends string> = Partial<Record<Field | '', string>>

/** The rules that only the service checks. */
const RULE_TEXTS: Partial<Record<FieldError['rule'], string>> = {
  required: 'This is required.',
  'well-formed': 'This contains a character that cannot be stored. Type the text again.',
  'single-line': 'This must be a single line.',
  'max-length': 'This is too long. Shorten it.',
  unique: 'This is already used. Choose another one.',
  future: 'This must be in the future. Choose a later time.',
}

/** The texts of a failed request: those of known fields and rules by field, any other for the form as a whole. */
export function formErrorsOf<Field extends string>(
  error: unknown,
  fields: readonly Field[],
): FormErrors<Field> {
  const rejected = error instanceof RequestError ? (error.details.fields ?? []) : []
  const errors: Record<string, string> = {}
  for (const { name, rule } of rejected) {
    const text = RULE_TEXTS[rule]
    if (text !== undefined && fields.some((field) => field === name)) errors[name] ??= text
    else errors[''] = failureText(error)
  }
  if (rejected.length === 0) errors[''] = failureText(error)
  return errors as FormErrors<Field>
}
