import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { texts } from '../parts/texts.ts'

interface EntranceOverProps {
  /** Where somebody was, and comes back to. */
  before: HTMLElement | null
  children: ComponentChildren
}

/** The way in, over all that is on the page, dialogs too. */
export function SignInOverlay({ before, children }: EntranceOverProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  useLayoutEffect(() => {
    const element = dialog.current
    element?.showModal()
    // The dialog itself has the focus first: what somebody goes on typing for a field behind it goes nowhere.
    element?.focus()
    return () => {
      element?.close()
      before?.focus({ preventScroll: true })
    }
  }, [])
  return (
    <dialog
      ref={dialog}
      class="entrance"
      aria-label={texts.signIn.submit}
      aria-describedby="token-message"
      tabIndex={-1}
      onCancel={(event) => event.preventDefault()}
      // Some browsers let nobody prevent it twice.
      onClose={() => dialog.current?.isConnected && dialog.current.showModal()}
    >
      {children}
    </dialog>
  )
}
