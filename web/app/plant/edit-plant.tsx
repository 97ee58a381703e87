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
import { PlantConflict } from './conflict.tsx'
import type { PlantDialogProps } from './dialog-props.ts'
import { draftErrors, membersOf, PLANT_FIELDS, type PlantDraft, PlantFields } from './fields.tsx'
import { plantTexts as words } from './texts.ts'
import { undoDelete } from './undo-delete.ts'

const NO_SUCH_PLANT = 40402
const NO_MATCH = 41201

type EditPlantProps = PlantDialogProps & { plant: StoredPlant }

/** The form for a stored plant; its facts if the token is read-only. */
export function EditPlant(props: EditPlantProps) {
  const form = useEdit(props)
  if (form.conflict !== undefined) return <EditConflict form={form} props={props} />
  return (
    <>
      {props.session.may('plants:write') ? (
        <EditForm form={form} props={props} />
      ) : (
        <PlantFacts plant={form.stored ?? props.plant} error={form.submission.errors['']} />
      )}
      <FailureBanner failure={form.failure} retry={form.readAgain} isBeneath />
    </>
  )
}

/** The draft of a stored plant, and its requests. */
function useEdit(props: EditPlantProps) {
  const { session, plant, notify, onClose, onUpdated, onDeleted } = props
  const { client } = session
  const [stored, setStored] = useState<VersionedPlant>()
  const [draft, setDraft] = useState<PlantDraft>(draftOf(plant))
  const submission = useSubmit(PLANT_FIELDS)
  const [conflict, setConflict] = useState<{ stored: VersionedPlant | undefined }>()
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
        if (found === undefined) {
          onDeleted(plant.id)
          return submission.setErrors({ '': words.notThere })
        }
        setStored(found)
        setDraft(draftOf(found))
      },
      (error: unknown) => isAbort(error) || setFailure(error),
    )
    return () => controller.abort()
  }, [client, plant.id, reads])

  /** If someone else edited or deleted the plant, loads it for the choice and returns true. */
  async function handleConflict(error: unknown): Promise<boolean> {
    const code = error instanceof RequestError ? error.code : undefined
    if (code !== NO_MATCH && code !== NO_SUCH_PLANT) return false
    return client.getPlant(plant.id).then(
      (current) => {
        setConflict({ stored: current })
        return true
      },
      () => false,
    )
  }
  const attempt = (work: () => Promise<void>) => submission.submit(work, handleConflict)
  function finish(changed: StoredPlant) {
    onUpdated(changed)
    notify({ text: words.saved(changed.name) })
    onClose()
  }
  return {
    ...{ stored, draft, submission, conflict, failure },
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
    delete: (base: VersionedPlant) =>
      attempt(async () => {
        const isDeleted = await client.deletePlant(plant.id, { ifMatch: base.etag })
        onDeleted(plant.id)
        const undo = { label: words.undo, run: () => void undoDelete({ ...props, deleted: base }) }
        notify(
          isDeleted ? { text: words.wasDeleted(base.name), action: undo } : { text: words.deletedMeanwhile },
        )
        onClose()
      }),
  }
}

interface FormOptions {
  form: ReturnType<typeof useEdit>
  props: EditPlantProps
}

function EditForm({ form, props }: FormOptions) {
  const { stored, draft, submission } = form
  const { plant, tags, onClose } = props
  function submit() {
    const errors = draftErrors(draft)
    // A stored plant may have an empty name: it is an error only if the user empties it.
    if (stored?.name === draft.name) delete errors.name
    if (Object.keys(errors).length > 0 || stored === undefined) submission.setErrors(errors)
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
        submission={submission}
        label={words.save}
        busyLabel={words.saving}
        isWaiting={stored === undefined}
        onSubmit={submit}
        onClose={onClose}
        dangerAction={{ label: words.delete, run: () => stored !== undefined && void form.delete(stored) }}
      >
        <PlantFields draft={draft} errors={submission.errors} tags={tags} onInput={form.input} />
      </Form>
    </>
  )
}

/** The choice when someone else edited or deleted the plant. */
function EditConflict({ form, props }: FormOptions) {
  const { plant, onUpdated, onDeleted, onClose } = props
  const current = form.conflict?.stored
  function discard() {
    if (current === undefined) onDeleted(plant.id)
    else onUpdated(current)
    onClose()
  }
  const keep = {
    label: current === undefined ? words.conflict.discard : words.conflict.keepStored,
    isMain: true,
    run: discard,
  }
  const overwrite =
    current === undefined
      ? { label: words.conflict.addAgain, run: () => void form.addAgain() }
      : { label: words.conflict.keepYours, run: () => void form.save(current) }
  return (
    <PlantConflict
      question={current === undefined ? words.conflict.deleted : words.conflict.edited}
      stored={current}
      yours={membersOf(form.draft)}
      choices={[keep, overwrite]}
      submission={form.submission}
    />
  )
}

/** A plant for a token that may not edit it. */
function PlantFacts({ plant, error }: { plant: StoredPlant; error: string | undefined }) {
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
        {error}
      </p>
    </>
  )
}

function draftOf({ id, name, tag }: StoredPlant): PlantDraft {
  return { id: String(id), name, tag: tag ?? '' }
}

/** Only the edited members. An empty field means no tag, unless the stored tag is empty. */
function changeOf(stored: StoredPlant, { name, tag }: PlantDraft): PlantUpdate {
  return {
    ...(name !== stored.name && { name }),
    ...(tag !== (stored.tag ?? '') && { tag: tag === '' ? null : tag }),
  }
}
