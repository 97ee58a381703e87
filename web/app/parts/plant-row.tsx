import type { StoredPlant } from '../../../src/client/plant-store-client.ts'
import { shownTag, shownText } from './shown-text.ts'
import { texts } from './texts.ts'
import { dayOf } from './times.ts'

interface PlantRowProps {
  /** Undefined while it is loading. */
  plant: StoredPlant | undefined
  /** Whether Tab stops here. One row of the list is a tab stop; the arrow keys reach the others. */
  isTabStop: boolean
  onOpen(plant: StoredPlant): void
}

/** A row of the list. <bdi> isolates the direction of a name from the text around it. */
export function PlantRow({ plant, isTabStop, onOpen }: PlantRowProps) {
  if (plant === undefined) return <span class="ghost" aria-hidden="true" />
  return (
    <>
      <button type="button" class="cell name" tabIndex={isTabStop ? 0 : -1} onClick={() => onOpen(plant)}>
        <bdi>{shownText(plant.name, texts.plants.nameless)}</bdi>
      </button>
      <span class="cell tag">{plant.tag !== undefined && <TagMark tag={plant.tag} />}</span>
      <span class="cell id">{String(plant.id)}</span>
      <time class="cell changed" dateTime={plant.updatedAt}>
        {dayOf(plant.updatedAt)}
      </time>
    </>
  )
}

export function TagMark({ tag }: { tag: string }) {
  return (
    <bdi class="mark" title={shownText(tag, '')}>
      {shownTag(tag)}
    </bdi>
  )
}
