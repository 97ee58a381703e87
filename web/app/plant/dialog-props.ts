import type { StoredPlant, TagCount } from '../../../src/client/plant-store-client.ts'
import type { Notify } from '../parts/notices.tsx'
import type { Session } from '../session/session.ts'

/** Properties of the dialog of one plant, and of its two forms. */
export interface PlantDialogProps {
  session: Session
  /** Undefined for a new plant. */
  plant: StoredPlant | undefined
  tags: readonly TagCount[]
  notify: Notify
  onClose(): void
  onAdded(id: bigint): void
  onUpdated(plant: StoredPlant): void
  onDeleted(id: bigint): void
}
