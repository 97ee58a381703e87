import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { texts } from './texts.ts'
import type { Sending } from './use-submit.ts'

interface FormProps {
  sending: Pick<Sending<string>, 'isBusy' | 'problems'>
  /** What the button that sends says, and what it says while it does. */
  label: string
  busyLabel?: string
  closeLabel?: string
  /** Whether to send does away with something. */
  isDanger?: boolean
  /** Whether nobody goes before the answer is there. */
  isHeld?: boolean
  /** Whether what the fields are about is not there yet. */
  isWaiting?: boolean
  onSend(): void
  onClose(): void
  /** Something else that can be done, which does away with what the form is about. */
  removal?: { label: string; run(): void }
  children: ComponentChildren
}

/** The form of a dialog: fields, what is wrong as a whole, and the buttons. The first wrong field gets the focus. */
export function Form(props: FormProps) {
  const {
    sending,
    label,
    busyLabel = label,
    closeLabel = texts.cancel,
    isDanger,
    isHeld,
    isWaiting,
    removal,
  } = props
  const { isBusy, problems } = sending
  const isDisabled = isBusy || isWaiting === true
  const form = useRef<HTMLFormElement>(null)
  useLayoutEffect(() => {
    if (isDisabled) return
    const find = (selector: string) => form.current?.querySelector<HTMLElement>(selector)
    const field = find('[aria-invalid=true]') ?? find('[data-first]')
    if (field) field.focus()
    // What had the focus lost it while it could not be used.
    else if (problems[''] !== undefined) find('[type=submit]')?.focus()
  }, [problems, isDisabled])
  return (
    <form
      ref={form}
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        props.onSend()
      }}
    >
      <fieldset disabled={isDisabled}>{props.children}</fieldset>
      <p class="wrong long" role="alert">
        {problems['']}
      </p>
      <div class="buttons">
        <button type="submit" class={isDanger ? 'danger' : 'main'} disabled={isDisabled}>
          {isBusy ? busyLabel : label}
        </button>
        <button type="button" disabled={isHeld && isBusy} onClick={props.onClose}>
          {closeLabel}
        </button>
        {removal && (
          <button type="button" class="danger" disabled={isDisabled} onClick={removal.run}>
            {removal.label}
          </button>
        )}
      </div>
    </form>
  )
}
