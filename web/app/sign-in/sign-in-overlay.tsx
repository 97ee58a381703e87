import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { texts } from '../parts/texts.ts'

interface SignInOverlayProps {
  /** The element that gets the focus back after signing in. */
  returnFocusTo: HTMLElement | null
  children: ComponentChildren
}

/** Covers the whole page, open dialogs too, until the user signs in again. */
export function SignInOverlay({ returnFocusTo, children }: SignInOverlayProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  useLayoutEffect(() => {
    const element = dialog.current
    element?.showModal()
    // The dialog itself, not the token field: keys typed for the covered field must not end up there.
    element?.focus()
    return () => {
      element?.close()
      returnFocusTo?.focus({ preventScroll: true })
    }
  }, [])
  return (
    <dialog
      ref={dialog}
      class="sign-in-page"
      aria-label={texts.signIn.submit}
      aria-describedby="token-message"
      tabIndex={-1}
      onCancel={(event) => event.preventDefault()}
      // Some browsers do not let a page cancel a second Escape.
      onClose={() => dialog.current?.isConnected && dialog.current.showModal()}
    >
      {children}
    </dialog>
  )
}
