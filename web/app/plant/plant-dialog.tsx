import { Dialog } from '../parts/dialog.tsx'
import { AddPlant } from './add-plant.tsx'
import type { PlantDialogProps } from './dialog-props.ts'
import { EditPlant } from './edit-plant.tsx'
import { plantTexts } from './texts.ts'

export function PlantDialog(props: PlantDialogProps) {
  const { plant, session } = props
  if (plant === undefined) {
    return (
      <Dialog title={plantTexts.add} asksToDiscard onClose={props.onClose}>
        <AddPlant {...props} />
      </Dialog>
    )
  }
  return (
    <Dialog
      title={session.may('plants:write') ? plantTexts.edit : plantTexts.look}
      asksToDiscard
      onClose={props.onClose}
    >
      <EditPlant {...props} plant={plant} />
    </Dialog>
  )
}
