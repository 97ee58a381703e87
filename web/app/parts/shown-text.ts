import { texts } from './texts.ts'

/** Enough for any screen. A megabyte of text would slow every frame. */
const SHOWN_CHARACTERS = 300
/** Only invisible characters: spaces, controls, and formatting such as direction marks. */
const BLANK = /^[\s\p{Control}\p{Format}]*$/u
/** Half of a surrogate pair that slice() split. */
const HALF = /\p{Surrogate}$/u

/** The beginning of a text, or `instead` if nothing of it is visible. */
export function shownText(text: string, instead: string, charactersMax = SHOWN_CHARACTERS): string {
  const start = text.slice(0, charactersMax)
  if (BLANK.test(start)) return instead
  return start.length < text.length ? `${start.replace(HALF, '')}…` : text
}

/** `shownText` of a tag. */
export function shownTag(tag: string, charactersMax?: number): string {
  return shownText(tag, texts.tags.emptyTag, charactersMax)
}
