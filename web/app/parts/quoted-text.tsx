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

/** Renders each quotation in <bdi>, so that its direction does not reorder the words around it. */
export function QuotedTextView({ text }: { text: string | QuotedText }) {
  if (typeof text === 'string') return <>{text}</>
  const { words, quoted } = text
  return (
    <>
      {words.map((word, at) => (
        <>
          {word}
          {quoted[at] !== undefined && <bdi>{quoted[at]}</bdi>}
        </>
      ))}
    </>
  )
}
