import type { StoredPlant, TagCount } from '../../../src/client/plant-store-client.ts'
import { Dialog } from '../parts/dialog.tsx'
import type { Notify } from '../parts/notices.tsx'
import type { Session } from '../session/session.ts'
import { AddPlant } from './add-plant.tsx'
import { ChangePlant } from './edit-plant.tsx'
import { plantTexts } from './plant-texts.ts'

export interface PlantDialogProps {
  session: Session
  /** Undefined for a new one. */
  plant: StoredPlant | undefined
  tags: readonly TagCount[]
  notify: Notify
  onClose(): void
  onAdded(id: bigint): void
  onChanged(plant: StoredPlant): void
  onRemoved(id: bigint): void
}

export function PlantDialog(props: PlantDialogProps) {
  const { plant, session } = props
  if (plant === undefined) {
    return (
      <Dialog title={plantTexts.add} onClose={props.onClose}>
        <AddPlant {...props} />
      </Dialog>
    )
  }
  return (
    <Dialog title={session.may('plants:write') ? plantTexts.change : plantTexts.look} onClose={props.onClose}>
      <ChangePlant {...props} plant={plant} />
    </Dialog>
  )
}
