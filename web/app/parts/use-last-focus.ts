import type { RefObject } from 'preact'
import { useEffect, useRef } from 'preact/hooks'

/**
 * What had the focus last, the way in apart. A field that is disabled while what is in it is sent loses the focus,
 * and still is where somebody was.
 */
export function useLastFocus(): RefObject<HTMLElement | null> {
  const last = useRef<HTMLElement>(null)
  useEffect(() => {
    const follow = ({ target }: FocusEvent) => {
      if (target instanceof HTMLElement && target.closest('.entrance') === null) last.current = target
    }
    addEventListener('focusin', follow)
    return () => removeEventListener('focusin', follow)
  }, [])
  return last
}
