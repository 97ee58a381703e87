import { useEffect, useRef, useState } from 'preact/hooks'
import { type NewPlant, RequestError, type VersionedPlant } from '../../../src/client/plant-store-client.ts'
import { Form } from '../parts/form.tsx'
import { findFreeId } from '../parts/free-id.ts'
import { parseId } from '../parts/parse-id.ts'
import { useSubmit } from '../parts/use-submit.ts'
import { PlantConflict } from './plant-conflict.tsx'
import type { PlantDialogProps } from './plant-dialog-props.ts'
import { membersOf, PLANT_FIELDS, type PlantDraft, PlantFields, problemsOf } from './plant-fields.tsx'
import { plantTexts as words } from './plant-texts.ts'

const ID_TAKEN = 40901
const NO_MATCH = 41201

/** The form for a new plant. */
export function AddPlant(props: PlantDialogProps) {
  const form = useAddition(props)
  const { draft, sending, plant } = form
  if (form.taken !== undefined && plant !== undefined) {
    return <TakenId form={form} plant={plant} taken={form.taken} />
  }
  function send() {
    const problems = problemsOf(draft)
    if (plant === undefined || Object.keys(problems).length > 0) sending.complain(problems)
    else void form.add(plant)
  }
  return (
    <Form
      sending={sending}
      label={words.addIt}
      busyLabel={words.saving}
      onSend={send}
      onClose={props.onClose}
    >
      <PlantFields
        draft={draft}
        problems={sending.problems}
        tags={props.tags}
        idHint={form.isSearching ? words.idSearching : words.idHint}
        onIdFocus={form.keepId}
        onInput={form.input}
      />
    </Form>
  )
}

/** What is being added, and the ways to do so. */
function useAddition({ session, notify, onClose, onAdded }: PlantDialogProps) {
  const { client } = session
  const [typed, setTyped] = useState<PlantDraft>({ id: '', name: '', tag: '' })
  const sending = useSubmit(PLANT_FIELDS)
  const [taken, setTaken] = useState<VersionedPlant>()
  const [hasOwnId, setOwnId] = useState(false)
  const { freeId, isSearching } = useFreeId(session, taken?.id)
  // What was sent without an answer: sent again with the same key, it is not added twice.
  const unanswered = useRef<{ text: string; key: string }>(undefined)
  const draft = hasOwnId || freeId === undefined ? typed : { ...typed, id: String(freeId) }

  async function add(plant: NewPlant, work: () => Promise<unknown>) {
    await work()
    notify({ text: words.wasAdded(plant.name) })
    onAdded(plant.id)
    onClose()
  }
  /** Whether it failed for another plant that has the id: then there is a choice. */
  async function isTaken(plant: NewPlant, error: unknown): Promise<boolean> {
    const code = error instanceof RequestError ? error.code : undefined
    if (code !== ID_TAKEN && code !== NO_MATCH) return false
    const found = await client.getPlant(plant.id).catch(() => undefined)
    if (found === undefined) return false
    // It stays that of this plant, whatever is suggested from now on.
    setOwnId(true)
    setTyped((before) => ({ ...before, id: String(plant.id) }))
    setTaken(found)
    return true
  }
  const attempt = (plant: NewPlant, work: () => Promise<unknown>) =>
    sending.send(
      () => add(plant, work),
      (error) => isTaken(plant, error),
    )
  async function create(plant: NewPlant) {
    const text = JSON.stringify({ ...plant, id: String(plant.id) })
    const key = unanswered.current?.text === text ? unanswered.current.key : undefined
    try {
      await client.createPlant(plant, { idempotencyKey: key })
    } catch (error) {
      if (error instanceof RequestError && error.isOutcomeUnknown && error.idempotencyKey !== undefined) {
        unanswered.current = { text, key: error.idempotencyKey }
      }
      throw error
    }
  }
  return {
    draft,
    sending,
    taken,
    freeId,
    isSearching,
    plant: plantOf(draft),
    input(change: Partial<PlantDraft>) {
      if (change.id !== undefined) setOwnId(true)
      setTyped((before) => ({ ...before, ...change }))
    },
    /** What stands there is not changed beneath somebody who is about to type. */
    keepId() {
      // Nothing stands there yet: what is suggested is still wanted.
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

/** Another plant has the id. */
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
      sending={form.sending}
    />
  )
}

function plantOf({ id, name, tag }: PlantDraft): NewPlant | undefined {
  const exact = parseId(id)
  return exact === undefined ? undefined : { id: exact, ...membersOf({ id, name, tag }) }
}

/** A free id to suggest; another one when it turned out to be taken. Without one people choose their own. */
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
