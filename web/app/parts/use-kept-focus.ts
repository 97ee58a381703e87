import type { RefObject } from 'preact'
import { useEffect } from 'preact/hooks'

/**
 * When the focused element is removed, moves the focus to the element of `content` that had it last, or to `content`.
 * Otherwise Tab would start at the top of the page.
 */
export function useKeptFocus(content: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    let last: Element | undefined
    let lastInContent: HTMLElement | undefined
    const follow = ({ target }: FocusEvent) => {
      if (!(target instanceof HTMLElement)) return
      last = target
      if (content.current?.contains(target) && target.closest('dialog') === null) lastInContent = target
    }
    const keep = () => {
      const isLost = document.activeElement === document.body && last !== undefined && !last.isConnected
      // A dialog manages its own focus.
      if (!isLost || document.querySelector('dialog[open]') !== null) return
      const next = lastInContent?.isConnected ? lastInContent : content.current
      next?.focus({ preventScroll: true })
    }
    const observer = new MutationObserver(keep)
    observer.observe(document.body, { childList: true, subtree: true })
    addEventListener('focusin', follow)
    return () => {
      observer.disconnect()
      removeEventListener('focusin', follow)
    }
  }, [])
}
