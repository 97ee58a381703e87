import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { texts } from './texts.ts'
import { type Told, ToldText } from './told.tsx'
import './notices.css'

/** Long enough to read it and to decide. While the pointer or the focus is on it, it stays. */
const SHOWN_MS = 12_000

export interface Notice {
  text: string | Told
  isFailure?: boolean
  action?: { label: string; run(): void }
}

export type Notify = (notice: Notice) => void

interface ShownNotice extends Notice {
  key: number
}

export function useNotices() {
  const [notices, setNotices] = useState<readonly ShownNotice[]>([])
  const keys = useRef(0)
  const notify: Notify = useCallback((notice) => {
    keys.current += 1
    const key = keys.current
    setNotices((before) => [...before.slice(-2), { ...notice, key }])
  }, [])
  const dismiss = useCallback((key: number) => {
    setNotices((before) => before.filter((notice) => notice.key !== key))
  }, [])
  return { notices, notify, dismiss }
}

interface NoticesProps {
  notices: readonly ShownNotice[]
  dismiss(key: number): void
}

/** What happened, told on the screen and to screen readers. */
export function Notices({ notices, dismiss }: NoticesProps) {
  return (
    <div class="notices" role="status">
      {notices.map((notice) => (
        <NoticeLine key={notice.key} notice={notice} onEnd={() => dismiss(notice.key)} />
      ))}
    </div>
  )
}

function NoticeLine({ notice, onEnd }: { notice: Notice; onEnd(): void }) {
  const [isHeld, setHeld] = useState(false)
  const end = useRef(onEnd)
  end.current = onEnd
  useEffect(() => {
    if (isHeld) return
    const timer = setTimeout(() => end.current(), SHOWN_MS)
    return () => clearTimeout(timer)
  }, [isHeld])
  const { text, action, isFailure } = notice
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it only stays while somebody reads it
    <div
      class={isFailure ? 'notice failure' : 'notice'}
      onMouseEnter={() => setHeld(true)}
      onMouseLeave={() => setHeld(false)}
      onFocusCapture={() => setHeld(true)}
      onBlurCapture={() => setHeld(false)}
    >
      <span>
        <ToldText text={text} />
      </span>
      {action && (
        <button
          type="button"
          onClick={() => {
            action.run()
            onEnd()
          }}
        >
          {action.label}
        </button>
      )}
      <button type="button" class="x" aria-label={texts.close} onClick={onEnd}>
        ×
      </button>
    </div>
  )
}
