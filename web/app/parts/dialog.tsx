import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { texts } from './texts.ts'
import { useLeaveWarning } from './use-leave-warning.ts'
import './dialog.css'

export interface DialogProps {
  title: string
  onClose(): void
  /** Whether only its own buttons close it: a request is running, or its content is shown only once. */
  isLocked?: boolean
  /** Whether it asks before it closes with text that the user typed. */
  asksToDiscard?: boolean
  children: ComponentChildren
}

/** Whether a dialog is open: the Back button then closes it instead of leaving the view. */
export function isDialogOpen(): boolean {
  return document.querySelector('dialog.window[open]') !== null
}

/** A modal dialog. Escape and the Back button close it, and the focus returns to where it was. */
export function Dialog({ title, onClose, isLocked = false, asksToDiscard = false, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  const dismiss = useRef(onClose)
  const [hasTyped, setTyped] = useState(false)
  const [isAsking, setAsking] = useState(false)
  function close() {
    // Text that is being sent is not lost.
    const isSending = dialog.current?.querySelector('fieldset:disabled') !== null
    if (isAsking) setAsking(false)
    else if (asksToDiscard && hasTyped && !isSending) setAsking(true)
    else onClose()
  }
  dismiss.current = isLocked ? () => undefined : close
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
      onInput={({ target }) => {
        if (target instanceof HTMLInputElement && target.type === 'text') setTyped(true)
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
          <button type="button" class="x" aria-label={texts.close} onClick={close}>
            ×
          </button>
        )}
      </div>
      {isAsking && <DiscardQuestion onKeep={() => setAsking(false)} onDiscard={onClose} />}
      <div hidden={isAsking}>{children}</div>
    </dialog>
  )
}

function DiscardQuestion({ onKeep, onDiscard }: { onKeep(): void; onDiscard(): void }) {
  const keep = useRef<HTMLButtonElement>(null)
  useLayoutEffect(() => {
    const before = document.activeElement
    keep.current?.focus()
    return () => {
      // The fields are shown again after this.
      requestAnimationFrame(() => before instanceof HTMLElement && before.focus({ preventScroll: true }))
    }
  }, [])
  return (
    <>
      <p role="alert">{texts.discardQuestion}</p>
      <div class="buttons">
        <button type="button" class="main" ref={keep} onClick={onKeep}>
          {texts.keepEditing}
        </button>
        <button type="button" class="danger" onClick={onDiscard}>
          {texts.discard}
        </button>
      </div>
    </>
  )
}
