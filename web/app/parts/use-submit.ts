import { useState } from 'preact/hooks'
import { isAbort } from './failure-text.ts'
import { type FormErrors, formErrorsOf } from './form-errors.ts'

export interface Submission<Field extends string> {
  /** Whether a request is running. The form is disabled meanwhile. */
  isSubmitting: boolean
  errors: FormErrors<Field>
  /** Shows what is wrong without a request. */
  setErrors(errors: FormErrors<Field>): void
  /** Runs `work`. Its error is shown in the form, unless `handleError` returns true. */
  submit(work: () => Promise<unknown>, handleError?: (error: unknown) => Promise<boolean>): Promise<void>
}

/** The state of a form that is submitted. `fields` are the fields that the service may reject, by its names. */
export function useSubmit<Field extends string>(fields: readonly Field[]): Submission<Field> {
  const [isSubmitting, setSubmitting] = useState(false)
  const [errors, setErrors] = useState<FormErrors<Field>>({})
  return {
    isSubmitting,
    errors,
    setErrors,
    async submit(work, handleError = async () => false) {
      setSubmitting(true)
      setErrors({})
      try {
        await work()
      } catch (error) {
        if (!isAbort(error) && !(await handleError(error))) setErrors(formErrorsOf(error, fields))
      }
      setSubmitting(false)
    },
  }
}
