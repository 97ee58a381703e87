import { useEffect } from 'preact/hooks'
import { failureText, retryDelayMs } from './failure-text.ts'
import { texts } from './texts.ts'
import './failure-banner.css'

interface FailureBannerProps {
  /** Undefined if nothing failed. */
  failure: unknown
  retry(): void
  /** Whether it takes space below content that stays usable. Otherwise it covers an empty area. */
  isBeneath?: boolean
}

/** Why a view shows nothing, or no more. Temporary failures are retried automatically. */
export function FailureBanner({ failure, retry, isBeneath = false }: FailureBannerProps) {
  useEffect(() => {
    const delayMs = retryDelayMs(failure)
    if (delayMs === undefined) return
    const timer = setTimeout(retry, delayMs)
    return () => clearTimeout(timer)
  }, [failure])
  if (failure === undefined) return null
  return (
    <div class={isBeneath ? 'banner-place beneath' : 'banner-place'}>
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
