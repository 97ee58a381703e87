import { useEffect, useRef } from 'preact/hooks'
import { type ImportRowError, RequestError } from '../../src/client/plant-store-client.ts'
import { causeText } from './failure-text.ts'
import type { ImportEnd, ImportTold } from './import-run.ts'
import { texts } from './import-texts.ts'
import { texts as pageTexts } from './texts.ts'

interface ImportResultProps {
  told: ImportTold
  /** Whether the refused rows are saved in another encoding than that of the file. */
  isWide: boolean
  end: ImportEnd
  onGoOn(): void
  onSaveRefused(): void
  onAnother(): void
  onClose(): void
}

/** What came of an import. */
export function ImportResult(props: ImportResultProps) {
  const { told, isWide, end, onGoOn, onSaveRefused, onAnother, onClose } = props
  const summary = useRef<HTMLDivElement>(null)
  useEffect(() => summary.current?.focus(), [])
  const isDone = end.is === 'done'
  return (
    <div class="import">
      <div ref={summary} class="import-end" tabIndex={-1}>
        <p class={end.is === 'failed' ? 'wrong' : undefined}>
          <strong>{isDone && told.failed > 0 ? texts.doneButRefused : texts[end.is]}</strong>{' '}
          {end.is === 'failed' && importFailureText(end.error)}
        </p>
        {!isDone && <p>{texts.howFar(told.nextLine, end.isUncertain)}</p>}
        <p>{texts.counts(told)}</p>
        {told.isSentTwice && <p class="hint">{texts.sentTwice}</p>}
        {end.mayGoOn && <p class="hint">{texts.goOnHint}</p>}
      </div>
      <RefusedList errors={told.errors} failed={told.failed} />
      {told.failed > 0 && <p class="hint">{isWide ? texts.saveRefusedHintWide : texts.saveRefusedHint}</p>}
      <div class="buttons">
        {end.mayGoOn && (
          <button type="button" class="main" onClick={onGoOn}>
            {texts.goOn}
          </button>
        )}
        {told.failed > 0 && (
          <button type="button" onClick={onSaveRefused}>
            {texts.saveRefused}
          </button>
        )}
        <button type="button" onClick={onAnother}>
          {texts.another}
        </button>
        <button type="button" class={isDone && told.failed === 0 ? 'main' : undefined} onClick={onClose}>
          {pageTexts.close}
        </button>
      </div>
    </div>
  )
}

interface RefusedListProps {
  errors: readonly ImportRowError[]
  failed: number
}

const SHOWN_MAX = 20

/** The first rows that were refused, and why. */
export function RefusedList({ errors, failed }: RefusedListProps) {
  if (failed === 0) return null
  const shown = errors.slice(0, SHOWN_MAX)
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is scrolled with the keyboard, too
    <section class="refused" tabIndex={0} aria-label={texts.refused}>
      <ul>
        {shown.map(({ line, id, message }) => (
          <li key={line}>
            <strong>{texts.refusedRow(line, id)}</strong> <span dir="auto">{rowMessage(message)}</span>
          </li>
        ))}
      </ul>
      {failed > shown.length && <p class="hint">{texts.refusedMore(failed - shown.length)}</p>}
    </section>
  )
}

/** The service speaks of its query where the page has a field. */
function rowMessage(message: string): string {
  return message.includes('encoding=windows-1252') ? texts.notUtf8 : message
}

/** Why an import, or a check, could not go on. */
export function importFailureText(error: unknown): string {
  // What the page itself says of a file.
  if (error instanceof Error && error.constructor === Error) return error.message
  if (error instanceof DOMException && error.name === 'NotReadableError') return texts.unreadable
  // What decompression throws.
  if (error instanceof TypeError) return texts.packedBadly
  if (error instanceof RequestError && error.kind === 'connection') return texts.gone
  return causeText(error)
}
