import type { Plant, TagCount } from '../../../src/client/plant-store-client.ts'
import { Field } from '../parts/field.tsx'
import type { FormErrors } from '../parts/form-errors.ts'
import { parseId } from '../parts/parse-id.ts'
import { texts } from '../parts/texts.ts'
import type { PlantDraft, PlantField } from './plant-draft.ts'
import { plantTexts as words } from './texts.ts'

/**
 * Errors that need no request. An empty id means the next free one. The web app requires a name, the service does not.
 */
export function draftErrors({ id, name }: PlantDraft): FormErrors<PlantField> {
  const errors: FormErrors<PlantField> = {}
  if (id.trim() !== '' && parseId(id) === undefined) errors.id = texts.idInvalid
  if (name.trim() === '') errors.name = words.nameMissing
  return errors
}

/** The plant of a draft. An empty field means no tag; members without a field stay as stored. */
export function membersOf({ name, tag }: PlantDraft, stored?: Plant): Plant {
  const { tag: _tag, ...others } = stored ?? {}
  return tag === '' ? { ...others, name } : { ...others, name, tag }
}

interface PlantFieldsProps {
  draft: PlantDraft
  errors: FormErrors<PlantField>
  tags: readonly TagCount[]
  /** The hint for the id of a new plant; undefined for a stored one, whose id cannot change. */
  idHint?: string
  onInput(change: Partial<PlantDraft>): void
}

/** More suggestions would not help. */
const SUGGESTED_TAGS = 50

export function PlantFields({ draft, errors, tags, idHint, onInput }: PlantFieldsProps) {
  const of = (name: PlantField) => ({
    id: `plant-${name}`,
    label: words[name],
    value: draft[name],
    error: errors[name],
    onText: (text: string) => onInput({ [name]: text }),
  })
  return (
    <>
      {idHint !== undefined && <Field {...of('id')} dir="ltr" hint={idHint} />}
      <Field {...of('name')} isFirst />
      <Field {...of('tag')} hint={words.tagHint} list="known-tags" />
      <datalist id="known-tags">
        {tags.slice(0, SUGGESTED_TAGS).map(({ tag }) => (
          <option key={tag} value={tag} />
        ))}
      </datalist>
    </>
  )
}
