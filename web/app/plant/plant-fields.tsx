import type { Plant, TagCount } from '../../../src/client/plant-store-client.ts'
import { Field } from '../parts/field.tsx'
import type { Problems } from '../parts/form-errors.ts'
import { parseId } from '../parts/parse-id.ts'
import { plantTexts as words } from './plant-texts.ts'

/** The fields of a plant, as the service names them. */
export const PLANT_FIELDS = ['id', 'name', 'tag'] as const

export type PlantField = (typeof PLANT_FIELDS)[number]

/** What stands in the fields of a form. */
export type PlantDraft = Record<PlantField, string>

/** What of a draft the service would refuse, or people did not mean. */
export function problemsOf({ id, name }: PlantDraft): Problems<PlantField> {
  const problems: Problems<PlantField> = {}
  if (id.trim() === '') problems.id = words.idMissing
  else if (parseId(id) === undefined) problems.id = words.idWrong
  if (name.trim() === '') problems.name = words.nameMissing
  return problems
}

/** The plant of a draft. An empty field is no tag; what has no field stays as it is stored. */
export function membersOf({ name, tag }: PlantDraft, stored?: Plant): Plant {
  const { tag: _tag, ...others } = stored ?? {}
  return tag === '' ? { ...others, name } : { ...others, name, tag }
}

interface PlantFieldsProps {
  draft: PlantDraft
  problems: Problems<PlantField>
  tags: readonly TagCount[]
  /** What helps with the id of a new plant; undefined for one that is stored: its id does not change. */
  idHint?: string
  /** Somebody goes to the field of the id. */
  onIdFocus?: () => void
  onInput(change: Partial<PlantDraft>): void
}

/** As many as help; a list of thousands would not. */
const SUGGESTED_TAGS = 50

export function PlantFields({ draft, problems, tags, idHint, onIdFocus, onInput }: PlantFieldsProps) {
  const of = (name: PlantField) => ({
    id: `plant-${name}`,
    label: words[name],
    value: draft[name],
    problem: problems[name],
    onText: (text: string) => onInput({ [name]: text }),
  })
  return (
    <>
      {idHint !== undefined && <Field {...of('id')} dir="ltr" hint={idHint} onFocus={onIdFocus} />}
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
