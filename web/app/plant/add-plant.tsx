import { useEffect, useRef, useState } from 'preact/hooks'
import {
  type NewPlant,
  type Plant,
  type PlantStoreClient,
  RequestError,
  type VersionedPlant,
} from '../../../src/client/plant-store-client.ts'
import { ShownError } from '../parts/failure-text.ts'
import { Form } from '../parts/form.tsx'
import { parseId } from '../parts/parse-id.ts'
import { useSubmit } from '../parts/use-submit.ts'
import { PlantConflict } from './conflict.tsx'
import type { PlantDialogProps } from './dialog-props.ts'
import { draftErrors, membersOf, PlantFields } from './fields.tsx'
import { PLANT_FIELDS, type PlantDraft } from './plant-draft.ts'
import { plantTexts as words } from './texts.ts'

const ID_TAKEN = 40901
const NO_MATCH = 41201
/** Others may add plants at the same time, but not so many between two requests. */
const IDS_TRIED_MAX = 5

/** The form for a new plant. */
export function AddPlant(props: PlantDialogProps) {
  const form = useAddition(props)
  const { draft, submission, taken } = form
  if (taken !== undefined) return <TakenId form={form} taken={taken} />
  function submit() {
    const errors = draftErrors(draft)
    if (Object.keys(errors).length > 0) submission.setErrors(errors)
    else void form.add(membersOf(draft), parseId(draft.id))
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
        idHint={words.idHint}
        onInput={form.input}
      />
    </Form>
  )
}

/** The draft of a new plant, and its requests. */
function useAddition({ session, notify, onClose, onAdded }: PlantDialogProps) {
  const { client } = session
  const [draft, setDraft] = useState<PlantDraft>({ id: '', name: '', tag: '' })
  const submission = useSubmit(PLANT_FIELDS)
  const [taken, setTaken] = useState<VersionedPlant>()
  const sendOnce = useSafeRetry(client)
  const input = (change: Partial<PlantDraft>) => setDraft((before) => ({ ...before, ...change }))
  const suggested = useSuggestedId(session, (id) =>
    setDraft((before) => (before.id === '' ? { ...before, id: String(id) } : before)),
  )

  async function add(work: () => Promise<NewPlant>) {
    const plant = await work()
    notify({ text: words.wasAdded(plant.name) })
    onAdded(plant.id)
    onClose()
  }
  /** If the id is taken, loads its plant for the choice and returns true. */
  async function handleTaken(id: bigint | undefined, error: unknown): Promise<boolean> {
    if (id === undefined || (!isTaken(error) && !isMismatch(error))) return false
    const found = await client.getPlant(id).catch(() => undefined)
    if (found === undefined) return false
    setTaken(found)
    return true
  }
  async function replace({ id, etag }: VersionedPlant, plant: Plant): Promise<NewPlant> {
    try {
      return await client.replacePlant(id, plant, { ifMatch: etag })
    } catch (error) {
      const current = isMismatch(error) ? await client.getPlant(id) : undefined
      // The same choice again could not succeed either.
      if (current?.etag === etag) throw new ShownError(words.conflict.changedOnTheWay)
      throw error
    }
  }
  /** Sends with the next free id, and another one if someone else was faster. */
  async function addWithNextId(plant: Plant, first: bigint | undefined): Promise<NewPlant> {
    for (let tries = 1, next = first; ; tries++, next = undefined) {
      const id: bigint = next ?? (await client.getNextId())
      suggested.current = id
      // If the outcome is unknown, the next submit has the same id.
      input({ id: String(id) })
      try {
        return await sendOnce.create({ id, ...plant })
      } catch (error) {
        if (!isTaken(error) || sendOnce.mayHaveStored(id) || tries >= IDS_TRIED_MAX) throw error
      }
    }
  }
  return {
    draft,
    submission,
    taken,
    input,
    goBack: () => setTaken(undefined),
    add(plant: Plant, id: bigint | undefined) {
      const isSuggested = id === undefined || id === suggested.current
      const work = () => (isSuggested ? addWithNextId(plant, id) : sendOnce.create({ id, ...plant }))
      return submission.submit(
        () => add(work),
        (error) => handleTaken(isSuggested ? suggested.current : id, error),
      )
    },
    replace: (stored: VersionedPlant, plant: Plant) =>
      submission.submit(
        () => add(() => replace(stored, plant)),
        (error) => handleTaken(stored.id, error),
      ),
  }
}

const isTaken = (error: unknown) => error instanceof RequestError && error.code === ID_TAKEN
const isMismatch = (error: unknown) => error instanceof RequestError && error.code === NO_MATCH

/** Creates plants. A create whose outcome is unknown is sent again with its key, so that it adds the plant once. */
function useSafeRetry(client: PlantStoreClient) {
  const uncertain = useRef<{ id: bigint; text: string; key: string }>(undefined)
  return {
    /** Whether an earlier create with this id may have been stored. */
    mayHaveStored: (id: bigint) => uncertain.current?.id === id,
    async create(plant: NewPlant): Promise<NewPlant> {
      const text = JSON.stringify({ ...plant, id: String(plant.id) })
      const key = uncertain.current?.text === text ? uncertain.current.key : undefined
      try {
        return await client.createPlant(plant, { idempotencyKey: key })
      } catch (error) {
        if (error instanceof RequestError && error.isOutcomeUnknown && error.idempotencyKey !== undefined) {
          uncertain.current = { id: plant.id, text, key: error.idempotencyKey }
        }
        throw error
      }
    },
  }
}

/** The choice when another plant has the id. */
function TakenId({ form, taken }: { form: ReturnType<typeof useAddition>; taken: VersionedPlant }) {
  const yours = membersOf(form.draft)
  const choices = [
    { label: words.conflict.otherId, run: () => void form.add(yours, undefined), isMain: true },
    { label: words.conflict.back, run: form.goBack },
    { label: words.conflict.keepYours, run: () => void form.replace(taken, yours) },
  ]
  return (
    <PlantConflict
      question={words.conflict.taken(taken.id)}
      stored={taken}
      yours={yours}
      choices={choices}
      submission={form.submission}
    />
  )
}

/** Requests a free id once, for the empty field. Without it, the id is requested with the submit. */
function useSuggestedId({ client }: PlantDialogProps['session'], onSuggested: (id: bigint) => void) {
  const suggested = useRef<bigint>(undefined)
  useEffect(() => {
    const controller = new AbortController()
    client.getNextId({ signal: controller.signal }).then(
      (id) => {
        suggested.current ??= id
        onSuggested(id)
      },
      () => undefined,
    )
    return () => controller.abort()
  }, [])
  return suggested
}
