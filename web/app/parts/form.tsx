import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { texts } from './texts.ts'
import type { Submission } from './use-submit.ts'

interface FormProps {
  submission: Pick<Submission<string>, 'isSubmitting' | 'errors'>
  /** The label of the submit button, and its label while the request runs. */
  label: string
  busyLabel?: string
  closeLabel?: string
  /** Whether submitting deletes something. */
  isDanger?: boolean
  /** Whether Cancel is disabled while the request runs. */
  isLocked?: boolean
  /** Whether the values of the fields are still loading. */
  isWaiting?: boolean
  onSubmit(): void
  onClose(): void
  /** A second button, which deletes what the form is about. */
  dangerAction?: { label: string; run(): void }
  children: ComponentChildren
}

/** The form of a dialog: fields, the error of the form as a whole, buttons. The first invalid field gets the focus. */
export function Form(props: FormProps) {
  const {
    submission,
    label,
    busyLabel = label,
    closeLabel = texts.cancel,
    isDanger,
    isLocked,
    isWaiting,
    dangerAction,
  } = props
  const { isSubmitting, errors } = submission
  const isDisabled = isSubmitting || isWaiting === true
  const form = useRef<HTMLFormElement>(null)
  useLayoutEffect(() => {
    if (isDisabled) return
    const find = (selector: string) => form.current?.querySelector<HTMLElement>(selector)
    const field = find('[aria-invalid=true]') ?? find('[data-first]')
    if (field) field.focus()
    // The submit button lost the focus while it was disabled.
    else if (errors[''] !== undefined) find('[type=submit]')?.focus()
  }, [errors, isDisabled])
  return (
    <form
      ref={form}
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        props.onSubmit()
      }}
    >
      <fieldset disabled={isDisabled}>{props.children}</fieldset>
      <p class="wrong long" role="alert">
        {errors['']}
      </p>
      <div class="buttons">
        <button type="submit" class={isDanger ? 'danger' : 'main'} disabled={isDisabled}>
          {isSubmitting ? busyLabel : label}
        </button>
        <button type="button" disabled={isLocked && isSubmitting} onClick={props.onClose}>
          {closeLabel}
        </button>
        {dangerAction && (
          <button type="button" class="danger" disabled={isDisabled} onClick={dangerAction.run}>
            {dangerAction.label}
          </button>
        )}
      </div>
    </form>
  )
}
