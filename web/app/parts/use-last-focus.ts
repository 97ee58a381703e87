import type { RefObject } from 'preact'
import { useEffect, useRef } from 'preact/hooks'

/**
 * The element that had the focus last, outside the sign-in form. A field that a running request disables loses the
 * focus, but still counts.
 */
export function useLastFocus(): RefObject<HTMLElement | null> {
  const last = useRef<HTMLElement>(null)
  useEffect(() => {
    const follow = ({ target }: FocusEvent) => {
      if (target instanceof HTMLElement && target.closest('.sign-in-page') === null) last.current = target
    }
    addEventListener('focusin', follow)
    return () => removeEventListener('focusin', follow)
  }, [])
  return last
}
