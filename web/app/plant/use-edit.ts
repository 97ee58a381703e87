import { useEffect, useReducer, useState } from 'preact/hooks'
import {
  type PlantUpdate,
  RequestError,
  type StoredPlant,
  type VersionedPlant,
} from '../../../src/client/plant-store-client.ts'
import { isAbort, ShownError } from '../parts/failure-text.ts'
import type { QuotedText } from '../parts/quoted-text.ts'
import { useSubmit } from '../parts/use-submit.ts'
import type { PlantDialogProps } from './dialog-props.ts'
import { membersOf } from './fields.tsx'
import { draftOf, type EditedField, editedFieldsOf, mergeDraft } from './merge.ts'
import { PLANT_FIELDS, type PlantDraft } from './plant-draft.ts'
import { plantTexts as words } from './texts.ts'
import { undoDelete } from './undo-delete.ts'

const NO_SUCH_PLANT = 40402
const NO_MATCH = 41201

export type EditPlantProps = PlantDialogProps & { plant: StoredPlant }

/** What someone else did to the plant meanwhile, so that the user has to choose. */
export type Conflict =
  | { kind: 'deleted' }
  | { kind: 'edited-before-delete'; stored: VersionedPlant }
  | { kind: 'edited'; stored: VersionedPlant; draft: PlantDraft; clashes: readonly EditedField[] }

/** The draft of a stored plant, and its requests. */
export function useEdit(props: EditPlantProps) {
  const { session, plant, notify, onClose, onUpdated, onDeleted } = props
  const { client } = session
  const [draft, setDraft] = useState<PlantDraft>(draftOf(plant))
  const submission = useSubmit(PLANT_FIELDS)
  const [conflict, setConflict] = useState<Conflict>()
  const { stored, failure, readAgain } = useStored(props, (found) => {
    if (found !== undefined) setDraft(draftOf(found))
    else submission.setErrors({ '': words.notThere })
  })

  function finish(changed: StoredPlant, text: QuotedText) {
    onUpdated(changed)
    notify({ text })
    onClose()
  }
  /** Saves the edits since `base`. Edits of someone else are merged; of fields that both edited the user decides. */
  async function save(base: VersionedPlant, edited: PlantDraft, textOf = words.saved): Promise<void> {
    try {
      const changed = await client.updatePlant(plant.id, changeOf(base, edited), { ifMatch: base.etag })
      finish(changed, textOf(changed.name))
    } catch (error) {
      const current = await readAfter(error, base)
      if (current === undefined) return setConflict({ kind: 'deleted' })
      const merge = mergeDraft(edited, base, current)
      if (merge.clashes.length > 0) setConflict({ kind: 'edited', stored: current, ...merge })
      else await saveMerged(current, merge.draft, words.savedBoth)
    }
  }
  /** `save`, unless the merge left no edit to save. */
  async function saveMerged(base: VersionedPlant, edited: PlantDraft, textOf = words.saved): Promise<void> {
    if (editedFieldsOf(edited, base).length > 0) return save(base, edited, textOf)
    onUpdated(base)
    onClose()
  }
  /**
   * The plant after a failed precondition; undefined if it was deleted. Throws any other error. Throws also if the
   * version is the one that was sent: something on the way changes the requests, and a retry cannot succeed.
   */
  async function readAfter(error: unknown, base: VersionedPlant): Promise<VersionedPlant | undefined> {
    const code = error instanceof RequestError ? error.code : undefined
    if (code !== NO_MATCH && code !== NO_SUCH_PLANT) throw error
    const current = await client.getPlant(plant.id)
    if (current?.etag === base.etag) throw new ShownError(words.conflict.changedOnTheWay)
    return current
  }
  async function deleteStored(base: VersionedPlant): Promise<void> {
    try {
      const isDeleted = await client.deletePlant(plant.id, { ifMatch: base.etag })
      const undo = { label: words.undo, run: () => void undoDelete({ ...props, deleted: base }) }
      notify(
        isDeleted ? { text: words.wasDeleted(base.name), action: undo } : { text: words.deletedMeanwhile },
      )
    } catch (error) {
      const current = await readAfter(error, base)
      if (current !== undefined) return setConflict({ kind: 'edited-before-delete', stored: current })
      notify({ text: words.deletedMeanwhile })
    }
    onDeleted(plant.id)
    onClose()
  }
  /** Adds the deleted plant again. If its id is used by now, the user decides on every field that differs. */
  async function addAgain(): Promise<void> {
    try {
      const added = await client.replacePlant(plant.id, membersOf(draft, stored), { ifNoneMatch: '*' })
      finish(added, words.saved(added.name))
    } catch (error) {
      const isUsed = error instanceof RequestError && error.code === NO_MATCH
      const current = isUsed ? await client.getPlant(plant.id) : undefined
      if (current === undefined) throw error
      const clashes = editedFieldsOf(draft, current)
      if (clashes.length > 0) setConflict({ kind: 'edited', stored: current, draft, clashes })
      else await saveMerged(current, draft)
    }
  }
  return {
    ...{ stored, draft, submission, conflict, failure, readAgain },
    input: (change: Partial<PlantDraft>) => setDraft((before) => ({ ...before, ...change })),
    save: (base: VersionedPlant) => submission.submit(() => save(base, draft)),
    saveChosen: (base: VersionedPlant, chosen: PlantDraft) =>
      submission.submit(() => saveMerged(base, chosen)),
    addAgain: () => submission.submit(addAgain),
    delete: (base: VersionedPlant) => submission.submit(() => deleteStored(base)),
  }
}

/** Reads the plant with its version when the dialog opens. `onRead` has undefined if it was deleted. */
function useStored(
  { session: { client }, plant, onDeleted }: EditPlantProps,
  onRead: (found: VersionedPlant | undefined) => void,
) {
  const [stored, setStored] = useState<VersionedPlant>()
  /** Why the plant could not be loaded; undefined once it is. */
  const [failure, setFailure] = useState<unknown>()
  const [reads, readAgain] = useReducer((count: number) => count + 1, 0)
  useEffect(() => {
    // A new sign-in changes `client`. The draft may have edits by then: do not load it again.
    if (stored !== undefined) return
    const controller = new AbortController()
    client.getPlant(plant.id, { signal: controller.signal }).then(
      (found) => {
        setFailure(undefined)
        if (found === undefined) onDeleted(plant.id)
        setStored(found)
        onRead(found)
      },
      (error: unknown) => isAbort(error) || setFailure(error),
    )
    return () => controller.abort()
  }, [client, plant.id, reads])
  return { stored, failure, readAgain: () => readAgain(undefined) }
}

/** Only the edited members. An empty field means no tag, unless the stored tag is empty. */
function changeOf(stored: StoredPlant, { name, tag }: PlantDraft): PlantUpdate {
  return {
    ...(name !== stored.name && { name }),
    ...(tag !== (stored.tag ?? '') && { tag: tag === '' ? null : tag }),
  }
}
