import { useLayoutEffect, useRef } from 'preact/hooks'
import { type Plant, RequestError, type TagCount } from '../../src/client/plant-store-client.ts'
import { failureText } from './failure-text.ts'
import { messagesByField, type PlantField, parseId } from './plant-rules.ts'
import { texts } from './texts.ts'

const words = texts.plant
const FIELD_WRONG = 40003

/** What stands in the fields of a form. */
export interface PlantDraft {
  id: string
  name: string
  tag: string
}

/** What is wrong, beside its field; '' is the form as a whole. */
export type Problems = Partial<Record<PlantField | '', string>>

/** What of a draft the service would refuse, or people did not mean. */
export function problemsOf({ id, name }: PlantDraft): Problems {
  const problems: Problems = {}
  if (id.trim() === '') problems.id = words.idMissing
  else if (parseId(id) === undefined) problems.id = words.idWrong
  if (name.trim() === '') problems.name = words.nameMissing
  return problems
}

/** Why the service did not take it: its own words, beside the fields that they are about. */
export function problemsIn(error: unknown): Problems {
  const isField = error instanceof RequestError && error.code === FIELD_WRONG
  return isField ? messagesByField(error.message) : { '': failureText(error) }
}

/** The plant of a draft. An empty field is no tag. */
export function membersOf({ name, tag }: PlantDraft): Plant {
  return tag === '' ? { name } : { name, tag }
}

interface PlantFieldsProps {
  draft: PlantDraft
  problems: Problems
  tags: readonly TagCount[]
  /** The id of a plant that is stored does not change. */
  isNew: boolean
  idHint: string
  isDisabled: boolean
  /** Somebody goes to the field of the id. */
  onIdFocus?: () => void
  onInput(change: Partial<PlantDraft>): void
}

/** As many as help; a list of thousands would not. */
const SUGGESTED_TAGS = 50

export function PlantFields({
  draft,
  problems,
  tags,
  isNew,
  idHint,
  isDisabled,
  onIdFocus,
  onInput,
}: PlantFieldsProps) {
  const fields = useRef<HTMLFieldSetElement>(null)
  useLayoutEffect(() => {
    if (!isDisabled) fields.current?.querySelector<HTMLElement>('[aria-invalid=true], [data-first]')?.focus()
  }, [problems, isDisabled])
  return (
    <fieldset ref={fields} class="plain" disabled={isDisabled}>
      {isNew && (
        <Field
          name="id"
          label={words.id}
          hint={idHint}
          value={draft.id}
          problem={problems.id}
          onFocus={onIdFocus}
          onInput={onInput}
        />
      )}
      <Field name="name" label={words.name} value={draft.name} problem={problems.name} onInput={onInput} />
      <Field
        name="tag"
        label={words.tag}
        hint={words.tagHint}
        value={draft.tag}
        problem={problems.tag}
        list="known-tags"
        onInput={onInput}
      />
      <datalist id="known-tags">
        {tags.slice(0, SUGGESTED_TAGS).map(({ tag }) => (
          <option key={tag} value={tag} />
        ))}
      </datalist>
    </fieldset>
  )
}

interface FieldProps {
  name: PlantField
  label: string
  hint?: string
  value: string
  problem: string | undefined
  list?: string
  onFocus?: (() => void) | undefined
  onInput(change: Partial<PlantDraft>): void
}

function Field({ name, label, hint, value, problem = '', list, onFocus, onInput }: FieldProps) {
  const id = `plant-${name}`
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        id={id}
        type="text"
        dir={name === 'id' ? 'ltr' : 'auto'}
        autocomplete="off"
        list={list}
        value={value}
        data-first={name === 'name' ? '' : undefined}
        aria-invalid={problem !== ''}
        aria-describedby={`${id}-hint ${id}-problem`}
        onFocus={onFocus}
        onInput={(event) => onInput({ [name]: event.currentTarget.value })}
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
