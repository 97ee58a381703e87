/** A text of the web app that quotes text of users. */
export interface QuotedText {
  words: readonly string[]
  /** The quotations between the words: one fewer than `words`. */
  quoted: readonly string[]
}

/** A template tag: the substitutions become quotations. */
export function quotedText(words: TemplateStringsArray, ...quoted: string[]): QuotedText {
  return { words, quoted }
}
