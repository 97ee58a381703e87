import { useLayoutEffect, useRef } from 'preact/hooks'

interface FieldProps {
  id: string
  label: string
  hint?: string | undefined
  error?: string | undefined
  type?: 'text' | 'date'
  /** The direction of the text. `ltr` for numbers. */
  dir?: 'auto' | 'ltr'
  value: string
  /** The id of a list of suggestions. */
  list?: string
  maxLength?: number
  /** Whether it gets the focus when the form opens. */
  isFirst?: boolean
  onText(text: string): void
}

/** A field with its label, hint and error. */
export function Field({ id, label, hint, error = '', isFirst, onText, ...input }: FieldProps) {
  const element = useRef<HTMLInputElement>(null)
  const known = useRef(input.value)
  useLayoutEffect(() => {
    const isSuggested = input.value !== known.current
    known.current = input.value
    // A suggestion arrived while the field has the focus: selected, it is replaced by typing.
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
        aria-invalid={error !== ''}
        aria-describedby={`${id}-hint ${id}-error`}
        onInput={({ currentTarget: { value } }) => {
          known.current = value
          onText(value)
        }}
      />
      <span id={`${id}-hint`} class="hint">
        {hint}
      </span>
      <span id={`${id}-error`} class="wrong" role="alert">
        {error}
      </span>
    </div>
  )
}

interface ChoiceProps {
  id: string
  label: string
  isChosen: boolean
  /** The id of the error text; undefined if there is none. */
  errorId?: string | undefined
  onChange(isChosen: boolean): void
}

/** A checkbox. */
export function Choice({ id, label, isChosen, errorId, onChange }: ChoiceProps) {
  return (
    <div class="choice">
      <input
        id={id}
        type="checkbox"
        checked={isChosen}
        aria-invalid={errorId !== undefined}
        aria-describedby={errorId}
        onChange={(event) => onChange(event.currentTarget.checked)}
      />
      <label for={id}>{label}</label>
    </div>
  )
}
