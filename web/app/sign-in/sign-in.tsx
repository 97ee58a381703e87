import { useEffect, useRef, useState } from 'preact/hooks'
import { Choice } from '../parts/field.tsx'
import { texts } from '../parts/texts.ts'
import { useSubmit } from '../parts/use-submit.ts'
import { BASE_URL, rememberedToken } from '../session/session.ts'
import { secretIn } from './secret-in.ts'
import './sign-in.css'

const words = texts.signIn

export interface SignInProps {
  /** Whether a remembered token is being checked. */
  isChecking: boolean
  /** Whether the token field gets the focus. */
  isFirst: boolean
  message: string
  /** Rejects with an Error whose message is shown. */
  onSubmit(secret: string, isForBrowser: boolean): Promise<void>
}

/** The sign-in form. Its input is uncontrolled, so that no attribute of the document contains the token. */
export function SignIn({ isChecking, isFirst, message, onSubmit }: SignInProps) {
  const [isRemembered, setRemembered] = useState(false)
  const [isShown, setShown] = useState(false)
  const { isSubmitting, errors, setErrors, submit } = useSubmit([])
  const input = useRef<HTMLInputElement>(null)
  useEffect(() => {
    if (isFirst) input.current?.focus()
  }, [])

  function signIn(event: Event) {
    event.preventDefault()
    const secret = secretIn(input.current?.value ?? '') || (rememberedToken() ?? '')
    if (secret === '') return setErrors({ '': words.empty })
    void submit(
      () => onSubmit(secret, isRemembered),
      async (error) => {
        setErrors({ '': error instanceof Error ? error.message : texts.failure.unexpected })
        input.current?.focus()
        return true
      },
    )
  }

  const shownMessage = errors[''] || (isSubmitting ? '' : message)
  const isWaiting = isSubmitting || isChecking
  return (
    <div class="sign-in">
      <img src={`${BASE_URL}/docs/leaf.svg`} alt="" width="48" height="48" />
      <h1>{words.title}</h1>
      <p class="lead">{words.lead}</p>
      <form onSubmit={signIn} noValidate>
        <label for="token">{words.token}</label>
        <input
          ref={input}
          id="token"
          // The types allow only a literal type.
          type={(isShown ? 'text' : 'password') as 'password'}
          autocomplete="off"
          autocapitalize="none"
          spellcheck={false}
          aria-describedby="token-hint token-message"
          aria-invalid={shownMessage !== ''}
        />
        <p id="token-hint" class="hint">
          {isRemembered ? words.tokenHintRemembered : words.tokenHint}
        </p>
        <p id="token-message" class="wrong" role="alert">
          {shownMessage}
        </p>
        <Choice id="show-token" label={words.show} isChosen={isShown} onChange={setShown} />
        <Choice id="remember-token" label={words.remember} isChosen={isRemembered} onChange={setRemembered} />
        <button type="submit" class="main" disabled={isWaiting}>
          {isWaiting ? words.checking : words.submit}
        </button>
      </form>
    </div>
  )
}
