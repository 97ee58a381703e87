import { failureText } from './failure-text.ts'
import { texts } from './texts.ts'

/** Tells why something is not there, and offers to ask again. */
export function FailureBanner({ failure, retry }: { failure: unknown; retry(): void }) {
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
