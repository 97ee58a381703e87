import type { QuotedText } from './quoted-text.ts'

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
