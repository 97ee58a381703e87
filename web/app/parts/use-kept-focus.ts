import type { RefObject } from 'preact'
import { useEffect } from 'preact/hooks'

/**
 * Where what had the focus goes away, `content` has it, or what in there had it before a notice did: otherwise the
 * keyboard would begin at the top of the page.
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
      // A dialog has a focus of its own.
      if (!isLost || document.querySelector('dialog[open]') !== null) return
      const wanted = lastInContent?.isConnected ? lastInContent : content.current
      wanted?.focus({ preventScroll: true })
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
