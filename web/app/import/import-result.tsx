import { useEffect, useRef } from 'preact/hooks'
import { type FieldError, type ImportRowError, RequestError } from '../../../src/client/plant-store-client.ts'
import { causeText } from '../parts/failure-text.ts'
import { texts } from '../parts/texts.ts'
import type { ImportAnnouncement, ImportEnd } from './import-run.ts'
import { importTexts } from './import-texts.ts'

interface ImportResultProps {
  told: ImportAnnouncement
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
          <strong>{isDone && told.failed > 0 ? importTexts.doneButRefused : importTexts[end.is]}</strong>{' '}
          {end.is === 'failed' && importFailureText(end.error)}
        </p>
        {!isDone && <p>{importTexts.howFar(told.nextLine, end.isUncertain)}</p>}
        <p>{importTexts.counts(told)}</p>
        {told.isSentTwice && <p class="hint">{importTexts.sentTwice}</p>}
        {end.mayGoOn && <p class="hint">{importTexts.goOnHint}</p>}
      </div>
      <FailedRowsList errors={told.errors} failed={told.failed} />
      {told.failed > 0 && (
        <p class="hint">{isWide ? importTexts.saveRefusedHintWide : importTexts.saveRefusedHint}</p>
      )}
      <div class="buttons">
        {end.mayGoOn && (
          <button type="button" class="main" onClick={onGoOn}>
            {importTexts.goOn}
          </button>
        )}
        {told.failed > 0 && (
          <button type="button" onClick={onSaveRefused}>
            {importTexts.saveRefused}
          </button>
        )}
        <button type="button" onClick={onAnother}>
          {importTexts.another}
        </button>
        <button type="button" class={isDone && told.failed === 0 ? 'main' : undefined} onClick={onClose}>
          {texts.close}
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
export function FailedRowsList({ errors, failed }: RefusedListProps) {
  if (failed === 0) return null
  const shown = errors.slice(0, SHOWN_MAX)
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is scrolled with the keyboard, too
    <section class="refused" tabIndex={0} aria-label={importTexts.refused}>
      <ul>
        {shown.map(({ line, id, message, fields }) => (
          <li key={line}>
            <strong>{importTexts.refusedRow(line, id)}</strong>{' '}
            <span dir="auto">{rowMessage(message, fields)}</span>
          </li>
        ))}
      </ul>
      {failed > shown.length && <p class="hint">{importTexts.refusedMore(failed - shown.length)}</p>}
    </section>
  )
}

/** Why a row failed. The service names a parameter where the app has a field. */
function rowMessage(message: string, fields: readonly FieldError[] = []): string {
  return fields.some(({ rule }) => rule === 'utf-8') ? importTexts.notUtf8 : message
}

/** Why an import, or a check, could not go on. */
export function importFailureText(error: unknown): string {
  // What the page itself says of a file.
  if (error instanceof Error && error.constructor === Error) return error.message
  if (error instanceof DOMException && error.name === 'NotReadableError') return importTexts.unreadable
  // What decompression throws.
  if (error instanceof TypeError) return importTexts.packedBadly
  if (error instanceof RequestError && error.kind === 'connection') return importTexts.gone
  if (error instanceof RequestError && error.kind === 'service') {
    const { fields } = error.details
    const line = fields?.[0]?.line
    if (line !== undefined) return importTexts.atLine(line, rowMessage(causeText(error), fields))
  }
  return causeText(error)
}
