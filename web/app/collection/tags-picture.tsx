import { useCallback } from 'preact/hooks'
import type { PlantStoreClient, TagCount } from '../../../src/client/plant-store-client.ts'
import { FailureBanner } from '../parts/failure-banner.tsx'
import { TagMark } from '../parts/plant-row.tsx'
import { texts } from '../parts/texts.ts'
import { useQuery } from '../parts/use-query.ts'
import type { Go } from '../session/place.ts'
import { placeUrl } from '../session/place.ts'

const words = texts.tags
/** More bars would not be readable. */
const BARS_MAX = 100

/** Plants by tag, as bars in a table with their numbers. */
export function TagsPicture({ client, go }: { client: PlantStoreClient; go: Go }) {
  const listTags = useCallback(
    (signal: AbortSignal) => client.listTags({ limit: BARS_MAX, signal }),
    [client],
  )
  const { data: tags, failure, retry } = useQuery(listTags)
  return (
    <section aria-labelledby="tags-title">
      <h2 id="tags-title">{words.title}</h2>
      <p class="lead">{words.lead}</p>
      <FailureBanner failure={failure} retry={retry} />
      {tags?.length === 0 && <p class="empty">{words.empty}</p>}
      {tags !== undefined && tags.length > 0 && <TagBars tags={tags} go={go} />}
      {tags?.length === BARS_MAX && <p class="hint">{words.more(BARS_MAX)}</p>}
    </section>
  )
}

function TagBars({ tags, go }: { tags: readonly TagCount[]; go: Go }) {
  const greatest = Math.max(...tags.map(({ count }) => count))
  const place = (tag: string) => ({ view: 'plants' as const, q: '', tag, at: undefined })
  return (
    <table class="bars">
      <thead>
        <tr>
          <th scope="col">{words.tag}</th>
          <th scope="col" class="number">
            {words.plants}
          </th>
          <td class="bar" />
        </tr>
      </thead>
      <tbody>
        {tags.map(({ tag, count }) => (
          <tr key={tag}>
            <th scope="row">
              <a
                href={placeUrl(place(tag))}
                onClick={(event) => {
                  if (event.ctrlKey || event.metaKey || event.shiftKey) return
                  event.preventDefault()
                  go(place(tag))
                }}
              >
                <TagMark tag={tag} />
              </a>
            </th>
            <td class="number">{count.toLocaleString('en')}</td>
            <td class="bar" aria-hidden="true">
              <span style={{ width: `${(count / greatest) * 100}%` }} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
