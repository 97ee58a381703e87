import { useEffect, useRef, useState } from 'preact/hooks'
import { Frame } from './frame.tsx'
import { isAbort } from './parts/failure-text.ts'
import { texts } from './parts/texts.ts'
import { useLastFocus } from './parts/use-last-focus.ts'
import { ServiceFooter } from './service-footer.tsx'
import {
  forgetToken,
  openSession,
  rememberedToken,
  rememberToken,
  type Session,
  SignInError,
  watchRememberedToken,
} from './session/session.ts'
import { SignIn } from './sign-in/sign-in.tsx'
import { SignInOverlay } from './sign-in/sign-in-overlay.tsx'

/** Who is signed in, and how that begins and ends. */
function useAccess() {
  const [session, setSession] = useState<Session>()
  // The service no longer takes the token. What is on the page stays behind the way in: somebody may have typed
  // something.
  const [isEnded, setEnded] = useState(false)
  const [message, setMessage] = useState('')
  // Before anything is drawn: a form that shows for a moment only would be taken for the page.
  const [isChecking, setChecking] = useState(() => rememberedToken() !== undefined)
  const opened = useRef<Session>(undefined)
  const current = useRef('')
  const lastFocus = useLastFocus()
  /** What had the focus when the session ended: forms that learn of it move the focus. */
  const left = useRef<HTMLElement>(null)

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
        left.current ??= lastFocus.current
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
    left.current = null
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

  return { session, isEnded, isChecking, message, left: left.current, signIn, signOut }
}

/** The page: signing in, and behind it everything else. */
export function App() {
  const { session, isEnded, isChecking, message, left, signIn, signOut } = useAccess()
  const isTyping = isEnded && left?.matches('input, select')
  const signInForm = (
    <SignIn
      isChecking={isChecking}
      isFirst={!isTyping}
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
      {isEnded && <SignInOverlay before={left}>{signInForm}</SignInOverlay>}
    </>
  )
}
