import { useEffect } from 'preact/hooks'
import { askAgainMs, failureText } from './failure-text.ts'
import { texts } from './texts.ts'
import './failure-banner.css'

interface FailureBannerProps {
  /** Undefined while all is well. */
  failure: unknown
  retry(): void
}

/** Why a view shows nothing, or no more. What may pass is asked for again, by itself and when somebody says so. */
export function FailureBanner({ failure, retry }: FailureBannerProps) {
  useEffect(() => {
    const delayMs = askAgainMs(failure)
    if (delayMs === undefined) return
    const timer = setTimeout(retry, delayMs)
    return () => clearTimeout(timer)
  }, [failure])
  if (failure === undefined) return null
  return (
    <p class="banner" role="alert">
      {failureText(failure)}
      <button type="button" onClick={retry}>
        {texts.tryAgain}
      </button>
    </p>
  )
}
