import { RequestError, type StoredPlant } from '../../../src/client/plant-store-client.ts'
import { failureText } from '../parts/failure-text.ts'
import type { Notify } from '../parts/notices.tsx'
import { texts } from '../parts/texts.ts'
import type { Session } from '../session/session.ts'
import { restorePlant } from './restore-plant.ts'
import { plantTexts } from './texts.ts'

const NO_MATCH = 41201

interface UndoDeleteOptions {
  session: Session
  deleted: StoredPlant
  notify: Notify
  onAdded(id: bigint): void
}

/** Restores a deleted plant under its id, unless another plant has the id by now. */
export async function undoDelete({ session, deleted, notify, onAdded }: UndoDeleteOptions): Promise<void> {
  const { id, name } = deleted
  try {
    await restorePlant(session.client, deleted)
    notify({ text: plantTexts.undone(name) })
    onAdded(id)
  } catch (error) {
    const isTaken = error instanceof RequestError && error.code === NO_MATCH
    const action = {
      label: texts.tryAgain,
      run: () => void undoDelete({ session, deleted, notify, onAdded }),
    }
    if (isTaken) notify({ text: plantTexts.undoTaken(id), isFailure: true })
    else notify({ text: failureText(error), isFailure: true, action })
  }
}
