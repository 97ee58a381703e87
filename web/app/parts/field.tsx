import { useLayoutEffect, useRef } from 'preact/hooks'

interface FieldProps {
  id: string
  label: string
  hint?: string | undefined
  problem?: string | undefined
  type?: 'text' | 'date'
  /** The direction of what is typed: what is not prose says its own. */
  dir?: 'auto' | 'ltr'
  value: string
  /** The id of a list of suggestions. */
  list?: string
  maxLength?: number
  /** Whether it has the focus when the form is there. */
  isFirst?: boolean
  onFocus?: (() => void) | undefined
  onText(text: string): void
}

/** A field with its name, what helps to fill it, and what is wrong with it. */
export function Field({ id, label, hint, problem = '', isFirst, onText, ...input }: FieldProps) {
  const element = useRef<HTMLInputElement>(null)
  const known = useRef(input.value)
  useLayoutEffect(() => {
    const isSuggested = input.value !== known.current
    known.current = input.value
    // Beneath somebody who is about to type: selected, it gives way to what is typed.
    if (isSuggested && document.activeElement === element.current) element.current?.select()
  }, [input.value])
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        type="text"
        dir="auto"
        {...input}
        ref={element}
        id={id}
        autocomplete="off"
        data-first={isFirst ? '' : undefined}
        aria-invalid={problem !== ''}
        aria-describedby={`${id}-hint ${id}-problem`}
        onInput={({ currentTarget: { value } }) => {
          known.current = value
          onText(value)
        }}
      />
      <span id={`${id}-hint`} class="hint">
        {hint}
      </span>
      <span id={`${id}-problem`} class="wrong" role="alert">
        {problem}
      </span>
    </div>
  )
}

interface ChoiceProps {
  id: string
  label: string
  isChosen: boolean
  /** The id of the text that says what is wrong, where something is. */
  problem?: string | undefined
  onChange(isChosen: boolean): void
}

/** A box to tick. */
export function Choice({ id, label, isChosen, problem, onChange }: ChoiceProps) {
  return (
    <div class="choice">
      <input
        id={id}
        type="checkbox"
        checked={isChosen}
        aria-invalid={problem !== undefined}
        aria-describedby={problem}
        onChange={(event) => onChange(event.currentTarget.checked)}
      />
      <label for={id}>{label}</label>
    </div>
  )
}
