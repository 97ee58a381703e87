import { useEffect, useRef, useState } from 'preact/hooks'
import { type NewPlant, RequestError, type VersionedPlant } from '../../../src/client/plant-store-client.ts'
import { Form } from '../parts/form.tsx'
import { findFreeId } from '../parts/free-id.ts'
import { parseId } from '../parts/parse-id.ts'
import { useSubmit } from '../parts/use-submit.ts'
import { PlantConflict } from './conflict.tsx'
import type { PlantDialogProps } from './dialog-props.ts'
import { draftErrors, membersOf, PLANT_FIELDS, type PlantDraft, PlantFields } from './fields.tsx'
import { plantTexts as words } from './texts.ts'

const ID_TAKEN = 40901
const NO_MATCH = 41201

/** The form for a new plant. */
export function AddPlant(props: PlantDialogProps) {
  const form = useAddition(props)
  const { draft, submission, plant } = form
  if (form.taken !== undefined && plant !== undefined) {
    return <TakenId form={form} plant={plant} taken={form.taken} />
  }
  function submit() {
    const errors = draftErrors(draft)
    if (plant === undefined || Object.keys(errors).length > 0) submission.setErrors(errors)
    else void form.add(plant)
  }
  return (
    <Form
      submission={submission}
      label={words.addIt}
      busyLabel={words.saving}
      onSubmit={submit}
      onClose={props.onClose}
    >
      <PlantFields
        draft={draft}
        errors={submission.errors}
        tags={props.tags}
        idHint={form.isSearching ? words.idSearching : words.idHint}
        onIdFocus={form.keepId}
        onInput={form.input}
      />
    </Form>
  )
}

/** The draft of a new plant, and its requests. */
function useAddition({ session, notify, onClose, onAdded }: PlantDialogProps) {
  const { client } = session
  const [typed, setTyped] = useState<PlantDraft>({ id: '', name: '', tag: '' })
  const submission = useSubmit(PLANT_FIELDS)
  const [taken, setTaken] = useState<VersionedPlant>()
  const [hasOwnId, setOwnId] = useState(false)
  const { freeId, isSearching } = useFreeId(session, taken?.id)
  // A create whose outcome is unknown: a retry with the same key does not add the plant twice.
  const uncertain = useRef<{ text: string; key: string }>(undefined)
  const draft = hasOwnId || freeId === undefined ? typed : { ...typed, id: String(freeId) }

  async function add(plant: NewPlant, work: () => Promise<unknown>) {
    await work()
    notify({ text: words.wasAdded(plant.name) })
    onAdded(plant.id)
    onClose()
  }
  /** If the id is taken, loads its plant for the choice and returns true. */
  async function handleTaken(plant: NewPlant, error: unknown): Promise<boolean> {
    const code = error instanceof RequestError ? error.code : undefined
    if (code !== ID_TAKEN && code !== NO_MATCH) return false
    const found = await client.getPlant(plant.id).catch(() => undefined)
    if (found === undefined) return false
    // Later suggestions must not change the id of this draft.
    setOwnId(true)
    setTyped((before) => ({ ...before, id: String(plant.id) }))
    setTaken(found)
    return true
  }
  const attempt = (plant: NewPlant, work: () => Promise<unknown>) =>
    submission.submit(
      () => add(plant, work),
      (error) => handleTaken(plant, error),
    )
  async function create(plant: NewPlant) {
    const text = JSON.stringify({ ...plant, id: String(plant.id) })
    const key = uncertain.current?.text === text ? uncertain.current.key : undefined
    try {
      await client.createPlant(plant, { idempotencyKey: key })
    } catch (error) {
      if (error instanceof RequestError && error.isOutcomeUnknown && error.idempotencyKey !== undefined) {
        uncertain.current = { text, key: error.idempotencyKey }
      }
      throw error
    }
  }
  return {
    draft,
    submission,
    taken,
    freeId,
    isSearching,
    plant: plantOf(draft),
    input(change: Partial<PlantDraft>) {
      if (change.id !== undefined) setOwnId(true)
      setTyped((before) => ({ ...before, ...change }))
    },
    /** The suggested id must not change while the user edits the field. */
    keepId() {
      // Still empty: a suggestion may arrive.
      if (draft.id === '') return
      setOwnId(true)
      setTyped((before) => ({ ...before, id: draft.id }))
    },
    goBack: () => setTaken(undefined),
    add: (plant: NewPlant) => attempt(plant, () => create(plant)),
    replace: (plant: NewPlant, etag: string) =>
      attempt(plant, () => client.replacePlant(plant.id, plant, { ifMatch: etag })),
  }
}

interface TakenIdProps {
  form: ReturnType<typeof useAddition>
  plant: NewPlant
  taken: VersionedPlant
}

/** The choice when another plant has the id. */
function TakenId({ form, plant, taken }: TakenIdProps) {
  const { freeId } = form
  const other =
    freeId === undefined || freeId === plant.id
      ? []
      : [{ label: words.conflict.otherId(freeId), run: () => void form.add({ ...plant, id: freeId }) }]
  const choices = [
    ...other,
    { label: words.conflict.back, run: form.goBack },
    { label: words.conflict.keepYours, run: () => void form.replace(plant, taken.etag) },
  ]
  return (
    <PlantConflict
      question={words.conflict.taken(plant.id)}
      stored={taken}
      yours={plant}
      choices={choices.map((choice, at) => ({ ...choice, isMain: at === 0 }))}
      submission={form.submission}
    />
  )
}

function plantOf({ id, name, tag }: PlantDraft): NewPlant | undefined {
  const exact = parseId(id)
  return exact === undefined ? undefined : { id: exact, ...membersOf({ id, name, tag }) }
}

/** A free id to suggest; another one if it turns out to be taken. Undefined if the search fails. */
function useFreeId({ client }: PlantDialogProps['session'], taken: bigint | undefined) {
  const [freeId, setFreeId] = useState<bigint>()
  const [isSearching, setSearching] = useState(true)
  useEffect(() => {
    if (freeId !== undefined && freeId !== taken) return
    const controller = new AbortController()
    findFreeId(client, controller.signal)
      .then(setFreeId, () => undefined)
      .finally(() => setSearching(false))
    return () => controller.abort()
  }, [client, taken])
  return { freeId, isSearching }
}
