import { useEffect, useRef } from 'preact/hooks'
import { texts } from '../parts/texts.ts'
import { importTexts } from './texts.ts'
import { rowCountOf, type ShownStatus } from './use-run.ts'

interface ProgressProps {
  label: string
  /** From 0 to 1. */
  share: number
  numbers: readonly string[]
  /** For screen readers. It changes rarely, so that they are not flooded. */
  announcement: string
  isStopping?: boolean
  onStop(): void
}

function Progress({ label, share, numbers, announcement, isStopping = false, onStop }: ProgressProps) {
  const button = useRef<HTMLButtonElement>(null)
  useEffect(() => button.current?.focus(), [])
  return (
    <div class="import">
      <p>{isStopping ? importTexts.stopping : label}</p>
      <progress aria-label={label} max={1} value={share} />
      <p class="numbers">
        {numbers.map((text, at) => (
          <span key={at}>{text}</span>
        ))}
      </p>
      <p class="unseen" role="status">
        {announcement}
      </p>
      <div class="buttons">
        <button ref={button} type="button" aria-disabled={isStopping} onClick={onStop}>
          {texts.cancel}
        </button>
      </div>
    </div>
  )
}

export function CheckProgress({ share, onStop }: { share: number; onStop(): void }) {
  return (
    <Progress
      label={importTexts.checking}
      share={share}
      numbers={[importTexts.checkShare(share)]}
      announcement={importTexts.checking}
      onStop={onStop}
    />
  )
}

interface ImportProgressProps {
  status: ShownStatus
  fileBytes: number
  isStopping: boolean
  onStop(): void
}

export function ImportProgress({ status, fileBytes, isStopping, onStop }: ImportProgressProps) {
  const { failed, bytes, isWaiting, perSecond } = status
  const share = fileBytes === 0 ? 0 : bytes / fileBytes
  return (
    <Progress
      label={isWaiting ? importTexts.waiting : importTexts.importing}
      share={share}
      numbers={[
        importTexts.progress(rowCountOf(status), perSecond, failed),
        importTexts.bytes(bytes, fileBytes),
      ]}
      announcement={isWaiting ? importTexts.waiting : importTexts.quarter(Math.floor(share * 4))}
      isStopping={isStopping}
      onStop={onStop}
    />
  )
}
