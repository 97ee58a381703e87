/** A text of the page with what people wrote in it. */
export interface QuotedText {
  words: readonly string[]
  /** What stands between the words: one less than there are of those. */
  quoted: readonly string[]
}

/** Tags a template: what is put into it is quoted. */
export function quotedText(words: TemplateStringsArray, ...quoted: string[]): QuotedText {
  return { words, quoted }
}

/** Each quotation runs in its own direction, whatever is in it: the words around it stay as they are. */
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
