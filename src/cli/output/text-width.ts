import truncatedWidth from 'fast-string-truncated-width'

/** Vowel signs of Indic scripts and the like: they have a column of their own, and the package counts none. */
const SPACING_MARKS = /\p{Mc}/gu

/** The columns that a text without control characters takes on a terminal. A Hangul syllable is composed first. */
export function textWidth(text: string): number {
  return truncatedWidth(text.normalize()).width + (text.match(SPACING_MARKS)?.length ?? 0)
}
