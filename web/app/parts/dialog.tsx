import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { texts } from './texts.ts'
import { useLeaveWarning } from './use-leave-warning.ts'
import './dialog.css'

export interface DialogProps {
  title: string
  onClose(): void
  /** Whether nothing closes it but what is in it: that is shown this once, or on its way. */
  isHeld?: boolean
  children: ComponentChildren
}

/** Whether one is open: then a step back closes it, and leads nowhere. */
export function isDialogOpen(): boolean {
  return document.querySelector('dialog.window[open]') !== null
}

/** A window in front of the page; Escape or a step back closes it, and the focus goes back to where it was. */
export function Dialog({ title, onClose, isHeld = false, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  const dismiss = useRef(onClose)
  dismiss.current = isHeld ? () => undefined : onClose
  useLayoutEffect(() => {
    const before = document.activeElement
    const element = dialog.current
    element?.showModal()
    // Rather where one writes than the button that closes it.
    element?.querySelector<HTMLElement>('[data-first]:enabled')?.focus()
    return () => {
      // As long as it is open, nothing behind it takes the focus.
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
  useLeaveWarning(isHeld)
  return (
    <dialog
      ref={dialog}
      class="window"
      closedby={isHeld ? 'none' : 'closerequest'}
      aria-labelledby="dialog-title"
      onCancel={(event) => {
        event.preventDefault()
        dismiss.current()
      }}
      onClose={() => {
        // Browsers let nobody prevent it twice. What is still there then has a reason to be.
        if (!dialog.current?.isConnected) return
        dialog.current.showModal()
        dismiss.current()
      }}
    >
      <div class="dialog-head">
        <h2 id="dialog-title">{title}</h2>
        {!isHeld && (
          <button type="button" class="x" aria-label={texts.close} onClick={onClose}>
            ×
          </button>
        )}
      </div>
      {children}
    </dialog>
  )
}
