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

/** The session: signing in, its end, and signing out. */
function useAccess() {
  const [session, setSession] = useState<Session>()
  // The token is no longer valid. The view stays mounted below the sign-in form, with unsaved input.
  const [isEnded, setEnded] = useState(false)
  const [message, setMessage] = useState('')
  // Initialised before the first render, so that the sign-in form does not flash.
  const [isChecking, setChecking] = useState(() => rememberedToken() !== undefined)
  const opened = useRef<Session>(undefined)
  const current = useRef('')
  const hasSignedIn = useRef(false)
  const lastFocus = useLastFocus()
  /** The focused element when the session ended. Forms move the focus afterwards. */
  const focusAtEnd = useRef<HTMLElement>(null)

  async function signIn(secret: string, isForBrowser: boolean | undefined, signal?: AbortSignal) {
    const next = await openSession({
      secret,
      currentSecret: () => current.current,
      onRenewal(renewed) {
        current.current = renewed
      },
      onEnd() {
        // A late response may belong to an earlier session.
        if (opened.current !== next) return
        focusAtEnd.current ??= lastFocus.current
        forgetToken()
        setMessage(texts.signIn.ended)
        setEnded(true)
      },
      signal,
    })
    if (isForBrowser !== undefined) rememberToken(secret, isForBrowser)
    hasSignedIn.current = isForBrowser !== undefined
    current.current = secret
    opened.current = next
    setMessage('')
    setEnded(false)
    focusAtEnd.current = null
    setSession(next)
  }

  useEffect(() => {
    const secret = rememberedToken()
    if (secret === undefined) return
    const controller = new AbortController()
    signIn(secret, undefined, controller.signal)
      .catch((error: unknown) => {
        if (isAbort(error)) return
        if (error instanceof SignInError && error.isTokenRejected) forgetToken()
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

  return {
    ...{ session, isEnded, isChecking, message, signIn, signOut },
    focusAtEnd: focusAtEnd.current,
    /** Whether the form was used. A remembered token needs none. */
    hasSignedIn: hasSignedIn.current,
  }
}

/** The web app: the sign-in form, then the views. */
export function App() {
  const { session, isEnded, isChecking, message, focusAtEnd, hasSignedIn, signIn, signOut } = useAccess()
  const isTyping = isEnded && focusAtEnd?.matches('input, select')
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
      <div class="sign-in-page">
        <main>{signInForm}</main>
        <ServiceFooter />
      </div>
    )
  }
  return (
    <>
      <Frame session={session} isFirst={hasSignedIn} onSignOut={signOut} />
      {isEnded && <SignInOverlay returnFocusTo={focusAtEnd}>{signInForm}</SignInOverlay>}
    </>
  )
}
