import type { StoredPlant } from '../../../src/client/plant-store-client.ts'
import type { PlantDraft } from './plant-draft.ts'

/** The fields of a stored plant that can be edited. */
export const EDITED_FIELDS = ['name', 'tag'] as const

export type EditedField = (typeof EDITED_FIELDS)[number]

export interface Merge {
  /** The draft with the edits of both. A field that both edited has the text of the draft. */
  draft: PlantDraft
  /** The fields that both edited, each in another way. */
  clashes: readonly EditedField[]
}

/** The draft of a stored plant. */
export function draftOf({ id, name, tag }: StoredPlant): PlantDraft {
  return { id: String(id), name, tag: tag ?? '' }
}

/** The fields of the draft that differ from the stored plant. */
export function editedFieldsOf(draft: PlantDraft, stored: StoredPlant): EditedField[] {
  const before = draftOf(stored)
  return EDITED_FIELDS.filter((field) => draft[field] !== before[field])
}

/** Merges the edits of a draft with those of someone else. Both began with `base`; `stored` is the plant now. */
export function mergeDraft(draft: PlantDraft, base: StoredPlant, stored: StoredPlant): Merge {
  const before = draftOf(base)
  const theirs = draftOf(stored)
  const mine = editedFieldsOf(draft, base)
  const merged = { ...draft }
  for (const field of EDITED_FIELDS) if (!mine.includes(field)) merged[field] = theirs[field]
  const isClash = (field: EditedField) => theirs[field] !== before[field] && theirs[field] !== draft[field]
  return { draft: merged, clashes: mine.filter(isClash) }
}

/** The draft with the stored text in these fields. */
export function keepStored(
  draft: PlantDraft,
  stored: StoredPlant,
  fields: readonly EditedField[],
): PlantDraft {
  const theirs = draftOf(stored)
  return { ...draft, ...Object.fromEntries(fields.map((field) => [field, theirs[field]])) }
}
