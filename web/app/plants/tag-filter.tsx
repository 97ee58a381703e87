import { useState } from 'preact/hooks'
import type { TagCount } from '../../../src/client/plant-store-client.ts'
import { Dialog } from '../parts/dialog.tsx'
import { Field } from '../parts/field.tsx'
import { Form } from '../parts/form.tsx'
import { shownTag } from '../parts/shown-text.ts'
import { texts } from '../parts/texts.ts'
import { useSubmit } from '../parts/use-submit.ts'

const words = texts.plants
/** The limit of the service for `GET /plants/tags`. */
export const TAGS_MAX = 1_000
/** The service ends the list after this many characters, too. */
const LISTED_CHARACTERS_MAX = 4 * 1024 * 1024
/** Most screens truncate longer options. */
const TAG_CHARACTERS = 60
/** The value of the option for another tag. Values of tags begin with an equals sign. */
const ANOTHER = 'another'

interface TagFilterProps {
  /** Undefined for all tags. The empty tag is a tag, too. */
  tag: string | undefined
  /** The most used tags, `TAGS_MAX` at most. */
  tags: readonly TagCount[]
  onChoose(tag: string | undefined): void
}

/** Filters by a tag: a listed one or, if the list is incomplete, a typed one. */
export function TagFilter({ tag: chosen, tags, onChoose }: TagFilterProps) {
  const [isTyping, setTyping] = useState(false)
  const isListed = (value: string) => tags.some(({ tag }) => tag === value)
  // A list at its limit is probably incomplete. It then offers the empty tag, which cannot be typed.
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

/** A dialog to type a tag. `listed` is the number of tags in the list. */
function AnotherTag({ listed, onChoose, onClose }: AnotherTagProps) {
  const [tag, setTag] = useState('')
  const submission = useSubmit(['tag'])
  function submit() {
    if (tag === '') return submission.setErrors({ tag: words.tagMissing })
    // The list calls the empty tag so.
    onChoose(tag.trim() === texts.tags.emptyTag ? '' : tag)
    onClose()
  }
  return (
    <Dialog title={words.anotherTitle} asksToDiscard onClose={onClose}>
      <Form submission={submission} label={words.showTag} onSubmit={submit} onClose={onClose}>
        <Field
          id="another-tag"
          label={words.tag}
          hint={words.anotherHint(listed)}
          error={submission.errors.tag}
          value={tag}
          isFirst
          onText={setTag}
        />
      </Form>
    </Dialog>
  )
}
