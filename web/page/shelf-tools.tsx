import { useEffect, useRef, useState } from 'preact/hooks'
import type { TagCount } from '../../src/client/plant-store-client.ts'
import type { Go } from './frame.tsx'
import { parseId } from './parse-id.ts'
import type { Place } from './place.ts'
import { shownText } from './shown-text.ts'
import { texts } from './texts.ts'

const words = texts.shelf
/** Between two keys of somebody who types: less asks the service for words that nobody meant. */
const TYPING_MS = 180
/** A longer choice is cut off by most screens. */
const TAG_CHARACTERS = 60

export interface ShelfToolsProps {
  place: Place
  tags: readonly TagCount[]
  go: Go
  onJump(id: bigint): void
}

/** What narrows the list down, and leads to a place in it. */
export function ShelfTools({ place, tags, go, onJump }: ShelfToolsProps) {
  const known = place.tag === undefined || tags.some(({ tag }) => tag === place.tag)
  return (
    <search class="tools">
      <SearchField q={place.q} go={go} />
      <div class="field">
        <label for="tag-filter" class="wide-words">
          {words.tag}
        </label>
        <select
          id="tag-filter"
          // An empty tag is a tag, too.
          value={place.tag === undefined ? '' : `=${place.tag}`}
          onChange={({ currentTarget: { value } }) =>
            go({ tag: value === '' ? undefined : value.slice(1), at: undefined })
          }
        >
          <option value="">{words.anyTag}</option>
          {!known && <option value={`=${place.tag}`}>{tagText(place.tag ?? '')}</option>}
          {tags.map(({ tag, count }) => (
            <option key={tag} value={`=${tag}`}>
              {`${tagText(tag)} (${count.toLocaleString('en')})`}
            </option>
          ))}
        </select>
      </div>
      <JumpField onJump={onJump} />
    </search>
  )
}

function tagText(tag: string): string {
  return shownText(tag, texts.tags.emptyTag, TAG_CHARACTERS)
}

function SearchField({ q, go }: { q: string; go: Go }) {
  const [typed, setTyped] = useState(q)
  const sent = useRef(q)
  useEffect(() => {
    // Somebody went back, or cleared it: not what is being typed.
    if (q === sent.current) return
    sent.current = q
    setTyped(q)
  }, [q])
  useEffect(() => {
    // A space before the next word asks for nothing else.
    const wanted = typed.trim()
    if (wanted === sent.current) return
    const timer = setTimeout(() => {
      const isFirst = sent.current === '' || wanted === ''
      sent.current = wanted
      go({ q: wanted, at: undefined }, isFirst ? 'push' : 'replace')
    }, TYPING_MS)
    return () => clearTimeout(timer)
  }, [typed])
  return (
    <div class="field search">
      <label for="search" class="wide-words">
        {words.search}
      </label>
      <input
        id="search"
        type="search"
        placeholder={words.search}
        autocomplete="off"
        value={typed}
        onInput={(event) => setTyped(event.currentTarget.value)}
      />
    </div>
  )
}

function JumpField({ onJump }: { onJump(id: bigint): void }) {
  const [message, setMessage] = useState('')
  const input = useRef<HTMLInputElement>(null)
  function jump(event: Event) {
    event.preventDefault()
    const id = parseId(input.current?.value ?? '')
    setMessage(id === undefined ? words.jumpWrong : '')
    if (id !== undefined) onJump(id)
  }
  return (
    <form class="field jump" onSubmit={jump} noValidate>
      <label for="jump" class="wide-words">
        {words.jump}
      </label>
      <span class="pair">
        <input
          id="jump"
          ref={input}
          type="text"
          placeholder={words.jumpHint}
          autocomplete="off"
          aria-describedby="jump-message"
          aria-invalid={message !== ''}
          onInput={() => setMessage('')}
        />
        <button type="submit">{words.jumpGo}</button>
      </span>
      <span id="jump-message" class="wrong" role="alert">
        {message}
      </span>
    </form>
  )
}
