import { TagMark } from '../parts/plant-row.tsx'
import { shownText } from '../parts/shown-text.ts'
import { texts } from '../parts/texts.ts'
import type { Sending } from '../parts/use-submit.ts'
import { plantTexts } from './plant-texts.ts'

const words = plantTexts.conflict

export interface ShownPlant {
  name: string
  tag?: string | undefined
}

interface PlantConflictProps {
  question: string
  /** Undefined where there is none any more. */
  stored: ShownPlant | undefined
  yours: ShownPlant
  choices: readonly { label: string; isMain?: boolean; run(): void }[]
  sending: Pick<Sending<string>, 'isBusy' | 'problems'>
}

/** Two versions of a plant side by side, and the choice between them. */
export function PlantConflict({ question, stored, yours, choices, sending }: PlantConflictProps) {
  return (
    <div class="conflict">
      <p role="alert">{question}</p>
      <div class="versions">
        {stored !== undefined && <Version title={words.stored} plant={stored} />}
        <Version title={words.yours} plant={yours} />
      </div>
      <p class="wrong" role="alert">
        {sending.problems['']}
      </p>
      <div class="buttons">
        {choices.map(({ label, isMain, run }) => (
          <button
            key={label}
            type="button"
            class={isMain ? 'main' : ''}
            disabled={sending.isBusy}
            onClick={run}
          >
            {label}
          </button>
        ))}
      </div>
    </div>
  )
}

function Version({ title, plant }: { title: string; plant: ShownPlant }) {
  return (
    <section class="version">
      <h3>{title}</h3>
      {/* A long name is scrolled, with the keyboard too. */}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached */}
      <p class="long" tabIndex={0}>
        <bdi>{shownText(plant.name, texts.plants.nameless, Number.POSITIVE_INFINITY)}</bdi>
      </p>
      <p>
        {plant.tag === undefined ? <span class="hint">{plantTexts.noTag}</span> : <TagMark tag={plant.tag} />}
      </p>
    </section>
  )
}
