import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { tokenTexts as words } from './texts.ts'

/** Shows a new secret, which the service does not show again. */
export function TokenSecret({ secret, onClose }: { secret: string; onClose(): void }) {
  const [copyStatus, setCopyStatus] = useState('')
  const field = useRef<HTMLInputElement>(null)
  useLayoutEffect(() => {
    // The form that had the focus is gone. Focusing the field also makes screen readers announce it.
    field.current?.focus()
    field.current?.select()
  }, [])
  async function copy() {
    try {
      // `navigator.clipboard` is undefined unless the page comes over HTTPS or from localhost.
      await navigator.clipboard.writeText(secret)
      setCopyStatus(words.copied)
    } catch {
      field.current?.select()
      setCopyStatus(words.copyFailed)
    }
  }
  return (
    <>
      <p id="secret-lead">{words.secretLead}</p>
      <span class="pair">
        <input
          ref={field}
          class="secret"
          readOnly
          value={secret}
          aria-label={words.secretTitle}
          aria-describedby="secret-lead"
        />
        <button type="button" class="main" onClick={copy}>
          {words.copy}
        </button>
      </span>
      <p role="status">{copyStatus}</p>
      <div class="buttons">
        <button type="button" onClick={onClose}>
          {words.done}
        </button>
      </div>
    </>
  )
}
