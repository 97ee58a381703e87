import { useEffect, useRef, useState } from 'preact/hooks'
import { type NewPlant, RequestError, type VersionedPlant } from '../../src/client/plant-store-client.ts'
import { findFreeId } from './free-id.ts'
import { PlantConflict } from './plant-conflict.tsx'
import type { PlantDialogProps } from './plant-dialog.tsx'
import {
  membersOf,
  type PlantDraft,
  PlantFields,
  type Problems,
  problemsIn,
  problemsOf,
} from './plant-fields.tsx'
import { parseId } from './plant-rules.ts'
import { texts } from './texts.ts'

const words = texts.plant
const ID_TAKEN = 40901
const NO_MATCH = 41201

/** The form for a new plant. */
export function AddPlant(props: PlantDialogProps) {
  const form = useAddition(props)
  const { draft, problems, isBusy, plant } = form
  if (form.taken !== undefined && plant !== undefined) {
    return <TakenId form={form} plant={plant} taken={form.taken} />
  }
  function submit(event: Event) {
    event.preventDefault()
    const found = problemsOf(draft)
    if (plant === undefined || Object.keys(found).length > 0) form.complain(found)
    else void form.add(plant)
  }
  return (
    <form onSubmit={submit} noValidate>
      <PlantFields
        draft={draft}
        problems={problems}
        tags={props.tags}
        isNew
        idHint={form.isSearching ? words.idSearching : words.idHint}
        isDisabled={isBusy}
        onIdFocus={form.keepId}
        onInput={form.input}
      />
      <p class="wrong" role="alert">
        {problems['']}
      </p>
      <div class="buttons">
        <button type="submit" class="main" disabled={isBusy}>
          {isBusy ? words.saving : words.addIt}
        </button>
        <button type="button" onClick={props.onClose}>
          {texts.cancel}
        </button>
      </div>
    </form>
  )
}

/** What is being added, and the ways to do so. */
function useAddition({ session, notify, onClose, onAdded }: PlantDialogProps) {
  const { client } = session
  const [typed, setTyped] = useState<PlantDraft>({ id: '', name: '', tag: '' })
  const [problems, setProblems] = useState<Problems>({})
  const [isBusy, setBusy] = useState(false)
  const [taken, setTaken] = useState<VersionedPlant>()
  const [hasOwnId, setOwnId] = useState(false)
  const { freeId, isSearching } = useFreeId(session, taken?.id)
  // What was sent without an answer: sent again with the same key, it is not added twice.
  const unanswered = useRef<{ text: string; key: string }>(undefined)
  const draft = hasOwnId || freeId === undefined ? typed : { ...typed, id: String(freeId) }

  async function attempt(plant: NewPlant, work: () => Promise<unknown>) {
    setBusy(true)
    setProblems({})
    try {
      await work()
      notify({ text: words.wasAdded(plant.name) })
      onAdded(plant.id)
      onClose()
    } catch (error) {
      const code = error instanceof RequestError ? error.code : undefined
      const other = code === ID_TAKEN || code === NO_MATCH
      const found = other ? await client.getPlant(plant.id).catch(() => undefined) : undefined
      if (found === undefined) setProblems(problemsIn(error))
      else {
        // It stays that of this plant, whatever is suggested from now on.
        setOwnId(true)
        setTyped((before) => ({ ...before, id: String(plant.id) }))
        setTaken(found)
      }
    }
    setBusy(false)
  }
  async function create(plant: NewPlant) {
    const text = JSON.stringify([String(plant.id), plant.name, plant.tag])
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
    problems,
    isBusy,
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
      setOwnId(true)
      setTyped((before) => ({ ...before, id: draft.id }))
    },
    complain: setProblems,
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
      : [{ label: texts.conflict.otherId(freeId), run: () => void form.add({ ...plant, id: freeId }) }]
  const choices = [
    ...other,
    { label: texts.conflict.back, run: form.goBack },
    { label: texts.conflict.keepYours, run: () => void form.replace(plant, taken.etag) },
  ]
  return (
    <>
      <PlantConflict
        question={texts.conflict.taken(plant.id)}
        stored={taken}
        yours={plant}
        choices={choices.map((choice, at) => ({ ...choice, isMain: at === 0 }))}
        isBusy={form.isBusy}
      />
      <p class="wrong">{form.problems['']}</p>
    </>
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
