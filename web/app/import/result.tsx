import { useEffect, useRef } from 'preact/hooks'
import { type ImportRowError, RequestError } from '../../../src/client/plant-store-client.ts'
import { causeText } from '../parts/failure-text.ts'
import { texts } from '../parts/texts.ts'
import { failureReason, groupFailures } from './failure-groups.ts'
import type { ImportEnd, ImportStatus } from './run.ts'
import { importTexts } from './texts.ts'

interface ImportResultProps {
  status: ImportStatus
  /** Whether the failed rows are saved as UTF-8 with commas, unlike the file. */
  isConverted: boolean
  end: ImportEnd
  onResume(): void
  onSaveFailed(): void
  onAnother(): void
  onClose(): void
}

/** The result of an import. */
export function ImportResult(props: ImportResultProps) {
  const { status, isConverted, end, onResume, onSaveFailed, onAnother, onClose } = props
  const summary = useRef<HTMLDivElement>(null)
  useEffect(() => summary.current?.focus(), [])
  const isDone = end.is === 'done'
  const hasSuccess = status.created + status.replaced + status.skipped > 0
  const failedTitle = hasSuccess ? importTexts.doneButFailed : importTexts.allFailed
  return (
    <div class="import">
      <div ref={summary} class="import-end" tabIndex={-1}>
        <p class={end.is === 'failed' ? 'wrong' : undefined}>
          <strong>{isDone && status.failed > 0 ? failedTitle : importTexts[end.is]}</strong>{' '}
          {end.is === 'failed' && importFailureText(end.error)}
        </p>
        {!isDone && <p>{importTexts.howFar(status.nextLine, end.isUncertain)}</p>}
        <p>{importTexts.counts(status)}</p>
        {status.isSentTwice && <p class="hint">{importTexts.sentTwice}</p>}
        {end.canResume && <p class="hint">{importTexts.resumeHint}</p>}
      </div>
      <FailedRowsList errors={status.errors} failed={status.failed} />
      {status.failed > 0 && (
        <p class="hint">{isConverted ? importTexts.saveFailedHintWide : importTexts.saveFailedHint}</p>
      )}
      <div class="buttons">
        {end.canResume && (
          <button type="button" class="main" onClick={onResume}>
            {importTexts.resume}
          </button>
        )}
        {status.failed > 0 && (
          <button type="button" onClick={onSaveFailed}>
            {importTexts.saveFailed}
          </button>
        )}
        <button type="button" onClick={onAnother}>
          {importTexts.another}
        </button>
        <button type="button" class={isDone && status.failed === 0 ? 'main' : undefined} onClick={onClose}>
          {texts.close}
        </button>
      </div>
    </div>
  )
}

interface FailedRowsListProps {
  errors: readonly ImportRowError[]
  failed: number
}

const SHOWN_MAX = 20

/** The first failed rows, and why each failed. A reason that many rows share is shown once. */
export function FailedRowsList({ errors, failed }: FailedRowsListProps) {
  if (failed === 0) return null
  const groups = groupFailures(errors)
  const shown = groups.slice(0, SHOWN_MAX)
  const rowsShown = shown.reduce((sum, { rows }) => sum + rows.length, 0)
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: the list scrolls with the keyboard, too
    <section class="failed-rows" tabIndex={0} aria-label={importTexts.failedRows}>
      <ul>
        {shown.map(({ rows, reason }) => (
          <li key={rows[0]?.line}>
            <strong>{importTexts.failedLines(rows)}</strong> <span dir="auto">{reason}</span>
          </li>
        ))}
      </ul>
      {failed > rowsShown && <p class="hint">{importTexts.failedMore(failed - rowsShown)}</p>}
    </section>
  )
}

/** Why an import or a check failed. */
export function importFailureText(error: unknown): string {
  // The web app itself rejects the file.
  if (error instanceof Error && error.constructor === Error) return error.message
  if (error instanceof DOMException && error.name === 'NotReadableError') return importTexts.unreadable
  // DecompressionStream throws it.
  if (error instanceof TypeError) return importTexts.badGzip
  if (error instanceof RequestError && error.kind === 'service') {
    const { fields } = error.details
    const line = fields?.[0]?.line
    if (line !== undefined)
      return importTexts.atLine(line, failureReason(error.code ?? 0, causeText(error), fields))
  }
  return causeText(error)
}
