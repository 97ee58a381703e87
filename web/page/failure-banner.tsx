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
    <div class="banner-place">
      <p class="banner" role="alert">
        <span class="long" dir="auto">
          {failureText(failure)}
        </span>
        <button type="button" onClick={retry}>
          {texts.tryAgain}
        </button>
      </p>
    </div>
  )
}
