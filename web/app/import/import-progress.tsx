import { useEffect, useRef } from 'preact/hooks'
import { texts } from '../parts/texts.ts'
import { importTexts } from './import-texts.ts'
import { type DrawnProgress, rowCountOf } from './use-import-run.ts'

interface ProgressProps {
  label: string
  /** From 0 to 1. */
  share: number
  numbers: readonly string[]
  /** For screen readers: it changes seldom, to be no chatter. */
  told: string
  isStopping?: boolean
  onStop(): void
}

function Progress({ label, share, numbers, told, isStopping = false, onStop }: ProgressProps) {
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
        {told}
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
      told={importTexts.checking}
      onStop={onStop}
    />
  )
}

interface ImportProgressProps {
  told: DrawnProgress
  fileBytes: number
  isStopping: boolean
  onStop(): void
}

export function ImportProgress({ told, fileBytes, isStopping, onStop }: ImportProgressProps) {
  const { failed, bytes, isWaiting, perSecond } = told
  const share = fileBytes === 0 ? 0 : bytes / fileBytes
  return (
    <Progress
      label={isWaiting ? importTexts.waiting : importTexts.importing}
      share={share}
      numbers={[
        importTexts.progress(rowCountOf(told), perSecond, failed),
        importTexts.bytes(bytes, fileBytes),
      ]}
      told={isWaiting ? importTexts.waiting : importTexts.quarter(Math.floor(share * 4))}
      isStopping={isStopping}
      onStop={onStop}
    />
  )
}
