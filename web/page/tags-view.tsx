import { useEffect, useState } from 'preact/hooks'
import type { TagCount } from '../../src/client/plant-store-client.ts'
import { failureText, isAbort } from './failure-text.ts'
import type { Go } from './frame.tsx'
import { placeUrl } from './place.ts'
import { TagMark } from './plant-row.tsx'
import type { Session } from './session.ts'
import { texts } from './texts.ts'
import './tags-view.css'

const words = texts.tags
/** More bars than these tell nobody anything. */
const BARS_MAX = 100

/** The collection by tag: bars in a table, so that what they say is there in numbers, too. */
export function TagsView({ session: { client }, go }: { session: Session; go: Go }) {
  const [tags, setTags] = useState<readonly TagCount[]>()
  const [failure, setFailure] = useState<unknown>()
  const [tries, setTries] = useState(0)
  useEffect(() => {
    const controller = new AbortController()
    setFailure(undefined)
    client
      .listTags({ limit: BARS_MAX, signal: controller.signal })
      .then(setTags, (error: unknown) => isAbort(error) || setFailure(error))
    return () => controller.abort()
  }, [client, tries])

  return (
    <div class="view">
      <h1>{words.title}</h1>
      <p class="lead">{words.lead}</p>
      {failure !== undefined && (
        <p class="banner" role="alert">
          {failureText(failure)}
          <button type="button" onClick={() => setTries(tries + 1)}>
            {texts.tryAgain}
          </button>
        </p>
      )}
      {tags?.length === 0 && <p class="empty">{words.empty}</p>}
      {tags !== undefined && tags.length > 0 && <TagBars tags={tags} go={go} />}
      {tags?.length === BARS_MAX && <p class="hint">{words.more(BARS_MAX)}</p>}
    </div>
  )
}

function TagBars({ tags, go }: { tags: readonly TagCount[]; go: Go }) {
  const greatest = Math.max(...tags.map(({ count }) => count))
  const place = (tag: string) => ({ view: 'shelf' as const, q: '', tag, at: undefined })
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
