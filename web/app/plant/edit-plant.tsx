import type { StoredPlant } from '../../../src/client/plant-store-client.ts'
import { FailureBanner } from '../parts/failure-banner.tsx'
import { Form } from '../parts/form.tsx'
import { shownTag, shownText } from '../parts/shown-text.ts'
import { texts } from '../parts/texts.ts'
import { momentOf } from '../parts/times.ts'
import { PlantConflict } from './conflict.tsx'
import { draftErrors, membersOf, PlantFields } from './fields.tsx'
import { keepStored } from './merge.ts'
import { plantTexts as words } from './texts.ts'
import { type Conflict, type EditPlantProps, useEdit } from './use-edit.ts'

/** The form for a stored plant; its facts if the token is read-only. */
export function EditPlant(props: EditPlantProps) {
  const form = useEdit(props)
  if (form.conflict !== undefined) return <EditConflict form={form} props={props} conflict={form.conflict} />
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
function EditConflict({ form, props, conflict }: FormOptions & { conflict: Conflict }) {
  const { onUpdated, onDeleted, onClose } = props
  function keep(stored: StoredPlant) {
    onUpdated(stored)
    onClose()
  }
  function discard() {
    onDeleted(props.plant.id)
    onClose()
  }
  if (conflict.kind === 'deleted') {
    return (
      <PlantConflict
        question={words.conflict.deleted}
        stored={undefined}
        yours={membersOf(form.draft)}
        choices={[
          { label: words.conflict.discard, isMain: true, run: discard },
          { label: words.conflict.addAgain, run: () => void form.addAgain() },
        ]}
        submission={form.submission}
      />
    )
  }
  const { stored } = conflict
  if (conflict.kind === 'edited-before-delete') {
    return (
      <PlantConflict
        question={words.conflict.editedBeforeDelete}
        stored={stored}
        yours={undefined}
        choices={[
          { label: words.conflict.keepPlant, isMain: true, run: () => keep(stored) },
          { label: words.conflict.deleteAnyway, run: () => void form.delete(stored) },
        ]}
        submission={form.submission}
      />
    )
  }
  const { draft, clashes } = conflict
  return (
    <PlantConflict
      question={words.conflict.edited(clashes)}
      stored={stored}
      yours={membersOf(draft)}
      fields={clashes}
      choices={[
        {
          label: words.conflict.keepStored(clashes),
          isMain: true,
          run: () => void form.saveChosen(stored, keepStored(draft, stored, clashes)),
        },
        { label: words.conflict.keepYours, run: () => void form.saveChosen(stored, draft) },
      ]}
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
