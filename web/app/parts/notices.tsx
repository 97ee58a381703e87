import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { QuotedText } from './quoted-text.ts'
import { QuotedTextView } from './quoted-text-view.tsx'
import { shownText } from './shown-text.ts'
import { texts } from './texts.ts'
import './notices.css'

/** Enough time to read a notice and press its button. It stays while it has the pointer or the focus. */
const SHOWN_MS = 12_000
/** A longer name would cover half of a phone. */
const QUOTED_CHARACTERS = 80

interface Notice {
  text: string | QuotedText
  isFailure?: boolean
  /** Replaces earlier notices of the same kind. */
  kind?: 'place'
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
    setNotices((before) => [
      ...before.filter((one) => !isOutdated(one, notice)).slice(-2),
      { ...notice, key },
    ])
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

/** Short messages, also for screen readers. */
export function Notices({ notices, dismiss }: NoticesProps) {
  const list = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    if (list.current !== null && notices.length > 0) keepFocusClearOf(list.current)
  }, [notices])
  return (
    <div class="notices" role="status" ref={list}>
      {notices.map((notice) => (
        <NoticeLine key={notice.key} notice={notice} onEnd={() => dismiss(notice.key)} />
      ))}
    </div>
  )
}

function NoticeLine({ notice, onEnd }: { notice: Notice; onEnd(): void }) {
  const [isPaused, setPaused] = useState(false)
  const end = useRef(onEnd)
  end.current = onEnd
  useEffect(() => {
    if (isPaused) return
    const timer = setTimeout(() => end.current(), SHOWN_MS)
    return () => clearTimeout(timer)
  }, [isPaused])
  const { text, action, isFailure } = notice
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: hovering only pauses its timer
    <div
      class={isFailure ? 'notice failure' : 'notice'}
      onMouseEnter={() => setPaused(true)}
      onMouseLeave={() => setPaused(false)}
      onFocusCapture={() => setPaused(true)}
      onBlurCapture={() => setPaused(false)}
    >
      <span>
        <QuotedTextView text={brief(text)} />
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

function isOutdated(earlier: Notice, later: Notice): boolean {
  return earlier.kind !== undefined && earlier.kind === later.kind
}

function brief(text: string | QuotedText): string | QuotedText {
  if (typeof text === 'string') return shownText(text, '')
  return {
    ...text,
    quoted: text.quoted.map((one) => shownText(one, texts.plants.nameless, QUOTED_CHARACTERS)),
  }
}

/** Scrolls the focused element out from under the notices: most notices are about it. */
function keepFocusClearOf(notices: HTMLElement): void {
  const focused = document.activeElement
  if (!focused?.closest('main')) return
  const own = (focused.closest('.row') ?? focused).getBoundingClientRect()
  const beneath = () => Math.ceil(own.bottom - notices.getBoundingClientRect().top)
  if (own.top > innerHeight || beneath() <= 0) return
  const list = focused.closest('.scroller')
  const before = list?.scrollTop ?? 0
  list?.scrollBy(0, beneath())
  scrollBy(0, beneath() - ((list?.scrollTop ?? 0) - before))
}
