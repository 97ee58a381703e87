import { texts } from './texts.ts'

/** No screen shows more of it; one of a megabyte would keep the browser busy in every frame. */
const SHOWN_CHARACTERS = 300
/** Nothing of these is to be seen: spaces, and characters that only say how others run. */
const BLANK = /^[\s\p{Control}\p{Format}]*$/u
/** Half a character, where the cut went through one. */
const HALF = /\p{Surrogate}$/u

/** The beginning of a text; `instead` of one in which nothing is to be seen. */
export function shownText(text: string, instead: string, charactersMax = SHOWN_CHARACTERS): string {
  const start = text.slice(0, charactersMax)
  if (BLANK.test(start)) return instead
  return start.length < text.length ? `${start.replace(HALF, '')}…` : text
}

/** `shownText` of a tag. */
export function shownTag(tag: string, charactersMax?: number): string {
  return shownText(tag, texts.tags.emptyTag, charactersMax)
}
