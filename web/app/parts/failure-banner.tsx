import { useEffect } from 'preact/hooks'
import { failureText, retryDelayMs } from './failure-text.ts'
import { texts } from './texts.ts'
import './failure-banner.css'

interface FailureBannerProps {
  /** Undefined while all is well. */
  failure: unknown
  retry(): void
  /** Whether it stands in the place that it needs, at the lower edge: above it is what one may still use. */
  isBeneath?: boolean
}

/** Why a view shows nothing, or no more. What may pass is asked for again, by itself and when somebody says so. */
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
