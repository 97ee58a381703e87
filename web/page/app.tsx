import { useEffect, useRef, useState } from 'preact/hooks'
import { isAbort } from './failure-text.ts'
import { Frame } from './frame.tsx'
import {
  forgetToken,
  openSession,
  rememberedToken,
  rememberToken,
  type Session,
  SignInError,
} from './session.ts'
import { SignIn } from './sign-in.tsx'
import { texts } from './texts.ts'

/** The page: signing in, and behind it everything else. */
export function App() {
  const [session, setSession] = useState<Session>()
  const [message, setMessage] = useState('')
  // Before anything is drawn: a form that shows for a moment only would be taken for the page.
  const [isChecking, setChecking] = useState(() => rememberedToken() !== undefined)
  const opened = useRef<Session>(undefined)

  function end(reason: string) {
    forgetToken()
    setSession(undefined)
    setMessage(reason)
  }

  async function signIn(secret: string, isForBrowser: boolean | undefined, signal?: AbortSignal) {
    const made = await openSession(
      secret,
      () => {
        // Only the session that is there can end: an answer to an earlier one may come late.
        if (opened.current === made) end(texts.signIn.ended)
      },
      signal,
    )
    if (isForBrowser !== undefined) rememberToken(secret, isForBrowser)
    opened.current = made
    setMessage('')
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

  if (session !== undefined) {
    return (
      <Frame
        session={session}
        onSignOut={() => {
          opened.current = undefined
          end('')
        }}
      />
    )
  }
  return (
    <SignIn
      isChecking={isChecking}
      message={message}
      onSubmit={(secret, isForBrowser) => signIn(secret, isForBrowser)}
    />
  )
}
