import { RequestError, type StoredPlant } from '../../../src/client/plant-store-client.ts'
import { failureText } from '../parts/failure-text.ts'
import type { Notify } from '../parts/notices.tsx'
import { texts } from '../parts/texts.ts'
import type { Session } from '../session/session.ts'
import { plantTexts } from './plant-texts.ts'
import { restorePlant } from './restore-plant.ts'

const NO_MATCH = 41201

interface PutBackOptions {
  session: Session
  removed: StoredPlant
  notify: Notify
  onAdded(id: bigint): void
}

/** Undoes a removal: the same plant under the same id, unless another one has it by now. */
export async function undoDelete({ session, removed, notify, onAdded }: PutBackOptions): Promise<void> {
  const { id, name } = removed
  try {
    await restorePlant(session.client, removed)
    notify({ text: plantTexts.undone(name) })
    onAdded(id)
  } catch (error) {
    const isTaken = error instanceof RequestError && error.code === NO_MATCH
    const action = {
      label: texts.tryAgain,
      run: () => void undoDelete({ session, removed, notify, onAdded }),
    }
    if (isTaken) notify({ text: plantTexts.undoTaken(id), isFailure: true })
    else notify({ text: failureText(error), isFailure: true, action })
  }
}
