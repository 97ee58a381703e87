import { useState } from 'preact/hooks'
import type { TagCount } from '../../../src/client/plant-store-client.ts'
import { Dialog } from '../parts/dialog.tsx'
import { Field } from '../parts/field.tsx'
import { Form } from '../parts/form.tsx'
import { shownTag } from '../parts/shown-text.ts'
import { texts } from '../parts/texts.ts'
import { useSubmit } from '../parts/use-submit.ts'

const words = texts.plants
/** So many tags are listed, which is as many as the service tells of. */
export const TAGS_MAX = 1_000
/** Nor does it tell of more characters of tags. */
const LISTED_CHARACTERS_MAX = 4 * 1024 * 1024
/** A longer choice is cut off by most screens. */
const TAG_CHARACTERS = 60
/** No tag: before the value of one there is an equals sign. */
const ANOTHER = 'another'

interface TagFilterProps {
  /** Undefined for every tag. An empty tag is a tag, too. */
  tag: string | undefined
  /** The most used ones, `TAGS_MAX` at most. */
  tags: readonly TagCount[]
  onChoose(tag: string | undefined): void
}

/** Narrows the list down to a tag: one of the list, or one that is typed where the list has not all. */
export function TagFilter({ tag: chosen, tags, onChoose }: TagFilterProps) {
  const [isTyping, setTyping] = useState(false)
  const isListed = (wanted: string) => tags.some(({ tag }) => tag === wanted)
  // Whether it is these by chance, or there are more, nobody knows: then there are, most likely. The empty one, nobody
  // could type.
  const listedCharacters = tags.reduce((sum, { tag }) => sum + tag.length, 0)
  const hasMore = tags.length >= TAGS_MAX || listedCharacters > LISTED_CHARACTERS_MAX
  const others = new Set([chosen ?? [], hasMore ? '' : []].flat())
  const unlisted = [...others].filter((tag) => !isListed(tag))
  const listed = tags.map(({ tag, count }) => (
    <option key={tag} value={`=${tag}`}>
      {`${shownTag(tag, TAG_CHARACTERS)} (${count.toLocaleString('en')})`}
    </option>
  ))
  function choose(value: string) {
    if (value === ANOTHER) setTyping(true)
    else onChoose(value === '' ? undefined : value.slice(1))
  }
  return (
    <div class="field">
      <label for="tag-filter" class="wide-words">
        {words.tag}
      </label>
      <select
        id="tag-filter"
        value={chosen === undefined ? '' : `=${chosen}`}
        onChange={(event) => choose(event.currentTarget.value)}
      >
        <option value="">{words.anyTag}</option>
        {unlisted.map((tag) => (
          <option key={tag} value={`=${tag}`}>
            {shownTag(tag, TAG_CHARACTERS)}
          </option>
        ))}
        {hasMore ? <optgroup label={words.mostUsed(tags.length)}>{listed}</optgroup> : listed}
        {hasMore && <option value={ANOTHER}>{words.anotherTag}</option>}
      </select>
      {isTyping && <AnotherTag listed={tags.length} onChoose={onChoose} onClose={() => setTyping(false)} />}
    </div>
  )
}

type AnotherTagProps = Pick<TagFilterProps, 'onChoose'> & { listed: number; onClose(): void }

/** Asks for a tag that is not one of those listed, which are so many. */
function AnotherTag({ listed, onChoose, onClose }: AnotherTagProps) {
  const [tag, setTag] = useState('')
  const sending = useSubmit(['tag'])
  function send() {
    if (tag === '') return sending.complain({ tag: words.tagMissing })
    onChoose(tag)
    onClose()
  }
  return (
    <Dialog title={words.anotherTitle} onClose={onClose}>
      <Form sending={sending} label={words.showTag} onSend={send} onClose={onClose}>
        <Field
          id="another-tag"
          label={words.tag}
          hint={words.anotherHint(listed)}
          problem={sending.problems.tag}
          value={tag}
          isFirst
          onText={setTag}
        />
      </Form>
    </Dialog>
  )
}
