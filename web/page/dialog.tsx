import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { texts } from './texts.ts'
import './dialog.css'

export interface DialogProps {
  title: string
  onClose(): void
  children: ComponentChildren
}

/** A window in front of the page; Escape closes it, and the focus goes back to where it was. */
export function Dialog({ title, onClose, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null)
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
  return (
    <dialog
      ref={dialog}
      aria-labelledby="dialog-title"
      onCancel={(event) => {
        event.preventDefault()
        onClose()
      }}
    >
      <div class="dialog-head">
        <h2 id="dialog-title">{title}</h2>
        <button type="button" class="x" aria-label={texts.close} onClick={onClose}>
          ×
        </button>
      </div>
      {children}
    </dialog>
  )
}
