import { useEffect, useReducer, useState } from 'preact/hooks'
import {
  type PlantUpdate,
  RequestError,
  type StoredPlant,
  type VersionedPlant,
} from '../../../src/client/plant-store-client.ts'
import { FailureBanner } from '../parts/failure-banner.tsx'
import { isAbort } from '../parts/failure-text.ts'
import { Form } from '../parts/form.tsx'
import { shownTag, shownText } from '../parts/shown-text.ts'
import { texts } from '../parts/texts.ts'
import { momentOf } from '../parts/times.ts'
import { useSubmit } from '../parts/use-submit.ts'
import { PlantConflict } from './plant-conflict.tsx'
import type { PlantDialogProps } from './plant-dialog-props.ts'
import { membersOf, PLANT_FIELDS, type PlantDraft, PlantFields, problemsOf } from './plant-fields.tsx'
import { plantTexts as words } from './plant-texts.ts'
import { undoDelete } from './undo-delete.ts'

const NO_SUCH_PLANT = 40402
const NO_MATCH = 41201

type EditPlantProps = PlantDialogProps & { plant: StoredPlant }

/** The form for a plant that is stored, as it is stored now; for those who read-only, what it says. */
export function EditPlant(props: EditPlantProps) {
  const form = useChange(props)
  if (form.conflict !== undefined) return <ChangeConflict form={form} props={props} />
  return (
    <>
      {props.session.may('plants:write') ? (
        <ChangeForm form={form} props={props} />
      ) : (
        <PlantFacts plant={form.stored ?? props.plant} problem={form.sending.problems['']} />
      )}
      <FailureBanner failure={form.failure} retry={form.readAgain} isBeneath />
    </>
  )
}

/** What is being changed, and what may be done with it. */
function useChange(props: EditPlantProps) {
  const { session, plant, notify, onClose, onUpdated, onDeleted } = props
  const { client } = session
  const [stored, setStored] = useState<VersionedPlant>()
  const [draft, setDraft] = useState<PlantDraft>(draftOf(plant))
  const sending = useSubmit(PLANT_FIELDS)
  const [conflict, setConflict] = useState<{ stored: VersionedPlant | undefined }>()
  /** Why it could not be read; undefined once it could. */
  const [failure, setFailure] = useState<unknown>()
  const [reads, readAgain] = useReducer((count: number) => count + 1, 0)

  useEffect(() => {
    // Once it is there, somebody may have changed the draft; who signs in anew goes on with it.
    if (stored !== undefined) return
    const controller = new AbortController()
    client.getPlant(plant.id, { signal: controller.signal }).then(
      (found) => {
        setFailure(undefined)
        if (found === undefined) {
          onDeleted(plant.id)
          return sending.complain({ '': words.notThere })
        }
        setStored(found)
        setDraft(draftOf(found))
      },
      (error: unknown) => isAbort(error) || setFailure(error),
    )
    return () => controller.abort()
  }, [client, plant.id, reads])

  /** Whether it failed for what somebody else did meanwhile: then there is a choice. */
  async function isConflict(error: unknown): Promise<boolean> {
    const code = error instanceof RequestError ? error.code : undefined
    if (code !== NO_MATCH && code !== NO_SUCH_PLANT) return false
    return client.getPlant(plant.id).then(
      (now) => {
        setConflict({ stored: now })
        return true
      },
      () => false,
    )
  }
  const attempt = (work: () => Promise<void>) => sending.send(work, isConflict)
  function finish(changed: StoredPlant) {
    onUpdated(changed)
    notify({ text: words.saved(changed.name) })
    onClose()
  }
  return {
    ...{ stored, draft, sending, conflict, failure },
    readAgain: () => readAgain(undefined),
    input: (change: Partial<PlantDraft>) => setDraft((before) => ({ ...before, ...change })),
    save: (base: VersionedPlant) =>
      attempt(async () =>
        finish(await client.updatePlant(plant.id, changeOf(base, draft), { ifMatch: base.etag })),
      ),
    addAgain: () =>
      attempt(async () => {
        finish(await client.replacePlant(plant.id, membersOf(draft, stored), { ifNoneMatch: '*' }))
      }),
    remove: (base: VersionedPlant) =>
      attempt(async () => {
        const isDone = await client.deletePlant(plant.id, { ifMatch: base.etag })
        onDeleted(plant.id)
        const undo = { label: words.undo, run: () => void undoDelete({ ...props, removed: base }) }
        notify(
          isDone ? { text: words.wasDeleted(base.name), action: undo } : { text: words.deletedMeanwhile },
        )
        onClose()
      }),
  }
}

interface FormOptions {
  form: ReturnType<typeof useChange>
  props: EditPlantProps
}

function ChangeForm({ form, props }: FormOptions) {
  const { stored, draft, sending } = form
  const { plant, tags, onClose } = props
  function send() {
    const problems = problemsOf(draft)
    // A plant that came without a name keeps it so, unless somebody touches it.
    if (stored?.name === draft.name) delete problems.name
    if (Object.keys(problems).length > 0 || stored === undefined) sending.complain(problems)
    else void form.save(stored)
  }
  return (
    <>
      <p class="facts">
        <span>{`${words.id} ${plant.id}`}</span>
        <span>{`${words.added} ${momentOf(plant.createdAt)}`}</span>
        <span>{`${words.updatedAt} ${momentOf((stored ?? plant).updatedAt)}`}</span>
      </p>
      <Form
        sending={sending}
        label={words.save}
        busyLabel={words.saving}
        isWaiting={stored === undefined}
        onSend={send}
        onClose={onClose}
        removal={{ label: words.delete, run: () => stored !== undefined && void form.remove(stored) }}
      >
        <PlantFields draft={draft} problems={sending.problems} tags={tags} onInput={form.input} />
      </Form>
    </>
  )
}

/** Somebody else was quicker. */
function ChangeConflict({ form, props }: FormOptions) {
  const { plant, onUpdated, onDeleted, onClose } = props
  const now = form.conflict?.stored
  function letGo() {
    if (now === undefined) onDeleted(plant.id)
    else onUpdated(now)
    onClose()
  }
  const keep = {
    label: now === undefined ? words.conflict.letGo : words.conflict.keepStored,
    isMain: true,
    run: letGo,
  }
  const over =
    now === undefined
      ? { label: words.conflict.addAgain, run: () => void form.addAgain() }
      : { label: words.conflict.keepYours, run: () => void form.save(now) }
  return (
    <PlantConflict
      question={now === undefined ? words.conflict.removed : words.conflict.changed}
      stored={now}
      yours={membersOf(form.draft)}
      choices={[keep, over]}
      sending={form.sending}
    />
  )
}

/** A plant for those who read-only. */
function PlantFacts({ plant, problem }: { plant: StoredPlant; problem: string | undefined }) {
  return (
    <>
      <dl class="plant-facts">
        <dt>{words.name}</dt>
        <dd class="long">
          <bdi>{shownText(plant.name, texts.plants.nameless, Number.POSITIVE_INFINITY)}</bdi>
        </dd>
        <dt>{words.tag}</dt>
        <dd>
          {plant.tag === undefined ? words.noTag : <bdi>{shownTag(plant.tag, Number.POSITIVE_INFINITY)}</bdi>}
        </dd>
        <dt>{words.id}</dt>
        <dd>{String(plant.id)}</dd>
        <dt>{words.added}</dt>
        <dd>{momentOf(plant.createdAt)}</dd>
        <dt>{words.updatedAt}</dt>
        <dd>{momentOf(plant.updatedAt)}</dd>
      </dl>
      <p class="wrong" role="alert">
        {problem}
      </p>
    </>
  )
}

function draftOf({ id, name, tag }: StoredPlant): PlantDraft {
  return { id: String(id), name, tag: tag ?? '' }
}

/** Only what is another than it was. An empty field is no tag, but the empty tag where that is what is stored. */
function changeOf(stored: StoredPlant, { name, tag }: PlantDraft): PlantUpdate {
  return {
    ...(name !== stored.name && { name }),
    ...(tag !== (stored.tag ?? '') && { tag: tag === '' ? null : tag }),
  }
}
