import { AdditionsPicture } from './additions-picture.tsx'
import type { Go } from './frame.tsx'
import type { Session } from './session.ts'
import { TagsPicture } from './tags-picture.tsx'
import { texts } from './texts.ts'
import './pictures.css'

/** The collection as a whole, in pictures. */
export function CollectionView({ session: { client }, go }: { session: Session; go: Go }) {
  return (
    <div class="view">
      <h1>{texts.collection.title}</h1>
      <AdditionsPicture client={client} />
      <TagsPicture client={client} go={go} />
    </div>
  )
}
