import { texts } from '../parts/texts.ts'
import type { Go } from '../session/place.ts'
import type { Session } from '../session/session.ts'
import { AdditionsPicture } from './additions-picture.tsx'
import { TagsPicture } from './tags-picture.tsx'
import './pictures.css'

/** Charts of the whole collection. */
export function CollectionView({ session: { client }, go }: { session: Session; go: Go }) {
  return (
    <div class="view">
      <h1>{texts.collection.title}</h1>
      <AdditionsPicture client={client} />
      <TagsPicture client={client} go={go} />
    </div>
  )
}
