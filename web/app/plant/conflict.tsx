import { TagMark } from '../parts/plant-row.tsx'
import { shownText } from '../parts/shown-text.ts'
import { texts } from '../parts/texts.ts'
import type { Submission } from '../parts/use-submit.ts'
import { EDITED_FIELDS, type EditedField } from './merge.ts'
import { plantTexts } from './texts.ts'

const words = plantTexts.conflict

interface ShownPlant {
  name: string
  tag?: string | undefined
}

interface PlantConflictProps {
  question: string
  /** Undefined if the plant has been deleted. */
  stored: ShownPlant | undefined
  /** Undefined if there is only the stored plant. */
  yours: ShownPlant | undefined
  /** The fields to choose. Default: all. */
  fields?: readonly EditedField[]
  choices: readonly { label: string; isMain?: boolean; run(): void }[]
  submission: Pick<Submission<string>, 'isSubmitting' | 'errors'>
}

/** Two versions of a plant side by side, and the choice between them. */
export function PlantConflict({
  question,
  stored,
  yours,
  fields = EDITED_FIELDS,
  choices,
  submission,
}: PlantConflictProps) {
  return (
    <div class="conflict">
      <p role="alert">{question}</p>
      <div class="versions">
        {stored !== undefined && <Version title={words.stored} plant={stored} fields={fields} />}
        {yours !== undefined && <Version title={words.yours} plant={yours} fields={fields} />}
      </div>
      <p class="wrong" role="alert">
        {submission.errors['']}
      </p>
      <div class="buttons">
        {choices.map(({ label, isMain, run }) => (
          <button
            key={label}
            type="button"
            class={isMain ? 'main' : ''}
            disabled={submission.isSubmitting}
            onClick={run}
          >
            {label}
          </button>
        ))}
      </div>
    </div>
  )
}

interface VersionProps {
  title: string
  plant: ShownPlant
  fields: readonly EditedField[]
}

function Version({ title, plant, fields }: VersionProps) {
  return (
    <section class="version">
      <h3>{title}</h3>
      {fields.includes('name') && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a long name scrolls with the keyboard, too
        <p class="long" tabIndex={0}>
          <bdi>{shownText(plant.name, texts.plants.nameless, Number.POSITIVE_INFINITY)}</bdi>
        </p>
      )}
      {fields.includes('tag') && (
        <p>
          {plant.tag === undefined ? (
            <span class="hint">{plantTexts.noTag}</span>
          ) : (
            <TagMark tag={plant.tag} />
          )}
        </p>
      )}
    </section>
  )
}
