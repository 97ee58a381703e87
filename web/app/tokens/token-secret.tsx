import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { tokenTexts as words } from './token-texts.ts'

/** The one time that a token is shown. */
export function TokenSecret({ secret, onClose }: { secret: string; onClose(): void }) {
  const [told, setTold] = useState('')
  const field = useRef<HTMLInputElement>(null)
  useLayoutEffect(() => {
    // What led here is gone, and the focus with it. Who reads with the ears hears what this is, too.
    field.current?.focus()
    field.current?.select()
  }, [])
  async function copy() {
    try {
      // Browsers have it only where the page comes over HTTPS or from this machine.
      await navigator.clipboard.writeText(secret)
      setTold(words.copied)
    } catch {
      field.current?.select()
      setTold(words.copyFailed)
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
      <p role="status">{told}</p>
      <div class="buttons">
        <button type="button" onClick={onClose}>
          {words.done}
        </button>
      </div>
    </>
  )
}
