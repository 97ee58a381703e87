import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { texts } from './texts.ts'
import { useLeaveWarning } from './use-leave-warning.ts'
import './dialog.css'

export interface DialogProps {
  title: string
  onClose(): void
  /** Whether only its own buttons close it: a request is running, or its content is shown only once. */
  isLocked?: boolean
  children: ComponentChildren
}

/** Whether a dialog is open: the Back button then closes it instead of leaving the view. */
export function isDialogOpen(): boolean {
  return document.querySelector('dialog.window[open]') !== null
}

/** A modal dialog. Escape and the Back button close it, and the focus returns to where it was. */
export function Dialog({ title, onClose, isLocked = false, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  const dismiss = useRef(onClose)
  dismiss.current = isLocked ? () => undefined : onClose
  useLayoutEffect(() => {
    const before = document.activeElement
    const element = dialog.current
    element?.showModal()
    // showModal() would focus the close button.
    element?.querySelector<HTMLElement>('[data-first]:enabled')?.focus()
    return () => {
      // An open modal dialog keeps the focus from the elements below it.
      element?.close()
      if (before instanceof HTMLElement && before.isConnected) before.focus({ preventScroll: true })
    }
  }, [])
  useLayoutEffect(() => {
    const url = location.href
    const stay = () => {
      history.pushState(null, '', url)
      const isInFront = [...document.querySelectorAll('dialog[open]')].at(-1) === dialog.current
      if (isInFront) dismiss.current()
    }
    addEventListener('popstate', stay)
    return () => removeEventListener('popstate', stay)
  }, [])
  useLeaveWarning(isLocked)
  return (
    <dialog
      ref={dialog}
      class="window"
      closedby={isLocked ? 'none' : 'closerequest'}
      aria-labelledby="dialog-title"
      onCancel={(event) => {
        event.preventDefault()
        dismiss.current()
      }}
      onClose={() => {
        // Browsers do not let a page cancel a second Escape. A dialog that is still mounted opens again.
        if (!dialog.current?.isConnected) return
        dialog.current.showModal()
        dismiss.current()
      }}
    >
      <div class="dialog-head">
        <h2 id="dialog-title">{title}</h2>
        {!isLocked && (
          <button type="button" class="x" aria-label={texts.close} onClick={onClose}>
            ×
          </button>
        )}
      </div>
      {children}
    </dialog>
  )
}
