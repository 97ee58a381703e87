import type { RefObject } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'

interface ArrowKeysOptions {
  scroller: RefObject<HTMLElement | null>
  /** The first row, and the one after the last. */
  first: number
  end: number
  /** Scrolls the row into view. */
  reveal(row: number): void
}

/** Moves the focus from row to row with the arrow keys, also to rows that are not rendered yet. */
export function useArrowKeys({ scroller, first, end, reveal }: ArrowKeysOptions) {
  const [active, setActive] = useState<number>()
  /** Whether the arrow keys moved the focus last. */
  const isByKey = useRef(false)

  useLayoutEffect(() => {
    // A row that is removed or moved in the document loses the focus.
    const { activeElement } = document
    const isLost = activeElement === document.body || activeElement?.closest('[data-row]')
    if (!isByKey.current || !isLost) return
    scroller.current
      ?.querySelector<HTMLElement>(`[data-row="${active}"] button`)
      ?.focus({ preventScroll: true })
  })

  const listeners = {
    onKeyDown(event: KeyboardEvent) {
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
      isByKey.current = step !== undefined
      if (step === undefined || active === undefined) return
      event.preventDefault()
      const row = Math.min(Math.max(active + step, first), end - 1)
      reveal(row)
      setActive(row)
    },
    onPointerDown() {
      isByKey.current = false
    },
    onFocusCapture: (event: FocusEvent) => setActive(rowOf(event.target)),
  }
  return { active, listeners }
}

function rowOf(target: EventTarget | null): number | undefined {
  const row = target instanceof Element ? target.closest<HTMLElement>('[data-row]')?.dataset.row : undefined
  return row === undefined ? undefined : Number(row)
}
