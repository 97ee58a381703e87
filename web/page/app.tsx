import type { ComponentChildren } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { isAbort } from './failure-text.ts'
import { Frame } from './frame.tsx'
import { ServiceFooter } from './service-footer.tsx'
import {
  forgetToken,
  openSession,
  rememberedToken,
  rememberToken,
  type Session,
  SignInError,
  watchRememberedToken,
} from './session.ts'
import { SignIn } from './sign-in.tsx'
import { texts } from './texts.ts'

/** The page: signing in, and behind it everything else. */
export function App() {
  const [session, setSession] = useState<Session>()
  // The service no longer takes the token. What is on the page stays behind the way in: somebody may have typed something.
  const [isEnded, setEnded] = useState(false)
  const [message, setMessage] = useState('')
  // Before anything is drawn: a form that shows for a moment only would be taken for the page.
  const [isChecking, setChecking] = useState(() => rememberedToken() !== undefined)
  const opened = useRef<Session>(undefined)
  const current = useRef('')

  async function signIn(secret: string, isForBrowser: boolean | undefined, signal?: AbortSignal) {
    const made = await openSession({
      secret,
      currentSecret: () => current.current,
      onRenewal(renewed) {
        current.current = renewed
      },
      onEnd() {
        // Only the session that is there can end: an answer to an earlier one may come late.
        if (opened.current !== made) return
        forgetToken()
        setMessage(texts.signIn.ended)
        setEnded(true)
      },
      signal,
    })
    if (isForBrowser !== undefined) rememberToken(secret, isForBrowser)
    current.current = secret
    opened.current = made
    setMessage('')
    setEnded(false)
    setSession(made)
  }

  useEffect(() => {
    const secret = rememberedToken()
    if (secret === undefined) return
    const controller = new AbortController()
    signIn(secret, undefined, controller.signal)
      .catch((error: unknown) => {
        if (isAbort(error)) return
        if (error instanceof SignInError && error.isRefusal) forgetToken()
        setMessage(error instanceof Error ? error.message : texts.failure.unexpected)
      })
      .finally(() => setChecking(false))
    return () => controller.abort()
  }, [])

  function signOut() {
    opened.current = undefined
    forgetToken()
    setMessage('')
    setSession(undefined)
  }

  useEffect(
    () =>
      watchRememberedToken((before, now) => {
        if (before !== current.current) return
        if (now === undefined) signOut()
        else current.current = now
      }),
    [],
  )

  const signInForm = (
    <SignIn
      isChecking={isChecking}
      message={message}
      onSubmit={(secret, isForBrowser) => signIn(secret, isForBrowser)}
    />
  )
  if (session === undefined) {
    return (
      <div class="entrance">
        <main>{signInForm}</main>
        <ServiceFooter />
      </div>
    )
  }
  return (
    <>
      <Frame session={session} onSignOut={signOut} />
      {isEnded && <EntranceOver>{signInForm}</EntranceOver>}
    </>
  )
}

/** The way in, over all that is on the page, dialogs too. */
function EntranceOver({ children }: { children: ComponentChildren }) {
  const dialog = useRef<HTMLDialogElement>(null)
  useLayoutEffect(() => {
    const element = dialog.current
    element?.showModal()
    return () => element?.close()
  }, [])
  return (
    <dialog
      ref={dialog}
      class="entrance"
      aria-label={texts.signIn.submit}
      onCancel={(event) => event.preventDefault()}
      // Some browsers let nobody prevent it twice.
      onClose={() => dialog.current?.isConnected && dialog.current.showModal()}
    >
      {children}
    </dialog>
  )
}
