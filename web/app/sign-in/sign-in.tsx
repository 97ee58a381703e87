import { useEffect, useRef, useState } from 'preact/hooks'
import { Choice } from '../parts/field.tsx'
import { texts } from '../parts/texts.ts'
import { useSubmit } from '../parts/use-submit.ts'
import { BASE_URL, rememberedToken } from '../session/session.ts'
import './sign-in.css'

const words = texts.signIn

export interface SignInProps {
  /** Whether a remembered token is being tried. */
  isChecking: boolean
  /** Whether the field of the token has the focus at once. */
  isFirst: boolean
  message: string
  /** Rejects with an Error whose message says why nobody was let in. */
  onSubmit(secret: string, isForBrowser: boolean): Promise<void>
}

/** The way in. The token is neither in the URL nor in the document. */
export function SignIn({ isChecking, isFirst, message, onSubmit }: SignInProps) {
  const [isKept, setKept] = useState(false)
  const [isShown, setShown] = useState(false)
  const { isBusy, problems, complain, send } = useSubmit([])
  const input = useRef<HTMLInputElement>(null)
  useEffect(() => {
    if (isFirst) input.current?.focus()
  }, [])

  function submit(event: Event) {
    event.preventDefault()
    const secret = input.current?.value.trim() || (rememberedToken() ?? '')
    if (secret === '') return complain({ '': words.empty })
    void send(
      () => onSubmit(secret, isKept),
      async (error) => {
        complain({ '': error instanceof Error ? error.message : texts.failure.unexpected })
        input.current?.focus()
        return true
      },
    )
  }

  const told = problems[''] || (isBusy ? '' : message)
  const isWaiting = isBusy || isChecking
  return (
    <div class="sign-in">
      <img src={`${BASE_URL}/docs/leaf.svg`} alt="" width="48" height="48" />
      <h1>{words.title}</h1>
      <p class="lead">{words.lead}</p>
      <form onSubmit={submit} noValidate>
        <label for="token">{words.token}</label>
        <input
          ref={input}
          id="token"
          // The types know an input of one kind or of the other.
          type={(isShown ? 'text' : 'password') as 'password'}
          autocomplete="off"
          autocapitalize="none"
          spellcheck={false}
          aria-describedby="token-hint token-message"
          aria-invalid={told !== ''}
        />
        <p id="token-hint" class="hint">
          {isKept ? words.tokenHintKept : words.tokenHint}
        </p>
        <p id="token-message" class="wrong" role="alert">
          {told}
        </p>
        <Choice id="show-token" label={words.show} isChosen={isShown} onChange={setShown} />
        <Choice id="keep-token" label={words.remember} isChosen={isKept} onChange={setKept} />
        <button type="submit" class="main" disabled={isWaiting}>
          {isWaiting ? words.checking : words.submit}
        </button>
      </form>
    </div>
  )
}
