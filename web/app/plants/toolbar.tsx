import { useEffect, useRef, useState } from 'preact/hooks'
import type { TagCount } from '../../../src/client/plant-store-client.ts'
import { parseId } from '../parts/parse-id.ts'
import { texts } from '../parts/texts.ts'
import type { Go, Place } from '../session/place.ts'
import { TagFilter } from './tag-filter.tsx'

const words = texts.plants
/** Waits for a pause in typing, so that half-typed words are not searched for. */
const TYPING_MS = 180

export interface PlantsToolbarProps {
  place: Place
  tags: readonly TagCount[]
  go: Go
  onJump(id: bigint): void
}

/** Search, tag filter and jump to an id. */
export function PlantsToolbar({ place, tags, go, onJump }: PlantsToolbarProps) {
  return (
    <search class="tools">
      <SearchField q={place.q} go={go} />
      <TagFilter tag={place.tag} tags={tags} onChoose={(tag) => go({ tag, at: undefined })} />
      <JumpField onJump={onJump} />
    </search>
  )
}

function SearchField({ q, go }: { q: string; go: Go }) {
  const [typed, setTyped] = useState(q)
  const sent = useRef(q)
  useEffect(() => {
    // The filter changed elsewhere: by Back, or by "Show all plants".
    if (q === sent.current) return
    sent.current = q
    setTyped(q)
  }, [q])
  useEffect(() => {
    // A space after a word does not change the search.
    const query = typed.trim()
    if (query === sent.current) return
    const timer = setTimeout(() => {
      const isFirst = sent.current === '' || query === ''
      sent.current = query
      go({ q: query, at: undefined }, isFirst ? 'push' : 'replace')
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
    setMessage(id === undefined ? texts.idInvalid : '')
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
