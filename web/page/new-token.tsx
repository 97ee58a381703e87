import { useRef, useState } from 'preact/hooks'
import {
  type CreatedToken,
  type PlantStoreClient,
  RequestError,
  type Scope,
} from '../../src/client/plant-store-client.ts'
import { failureText } from './failure-text.ts'
import { Choice } from './sign-in.tsx'
import { texts } from './texts.ts'

const words = texts.tokens
const SCOPES = Object.keys(words.scope) as Scope[]
const LABEL_CHARACTERS_MAX = 200

interface NewTokenFormProps {
  client: PlantStoreClient
  onMade(token: CreatedToken): void
  onClose(): void
}

export function NewTokenForm({ client, onMade, onClose }: NewTokenFormProps) {
  const [label, setLabel] = useState('')
  const [scopes, setScopes] = useState<readonly Scope[]>(['plants:read'])
  const [day, setDay] = useState('')
  const [problem, setProblem] = useState('')
  const [isBusy, setBusy] = useState(false)

  async function submit(event: Event) {
    event.preventDefault()
    const expiresAt = day === '' ? undefined : new Date(`${day}T23:59:59`)
    if (scopes.length === 0) return setProblem(words.scopeMissing)
    if (expiresAt !== undefined && !(expiresAt.getTime() > Date.now())) return setProblem(words.datePast)
    setBusy(true)
    setProblem('')
    try {
      const wanted = { label: label.trim(), scopes: [...scopes] }
      onMade(await client.createToken(expiresAt ? { ...wanted, expiresAt: expiresAt.toISOString() } : wanted))
    } catch (error) {
      setProblem(
        error instanceof RequestError && error.code !== undefined ? error.message : failureText(error),
      )
      setBusy(false)
    }
  }
  function choose(scope: Scope, isChosen: boolean) {
    setScopes(SCOPES.filter((one) => (one === scope ? isChosen : scopes.includes(one))))
  }
  return (
    <form onSubmit={submit} noValidate>
      <div class="field">
        <label for="token-label">{words.label}</label>
        <input
          id="token-label"
          type="text"
          dir="auto"
          autocomplete="off"
          maxLength={LABEL_CHARACTERS_MAX}
          value={label}
          data-first=""
          aria-describedby="token-label-hint"
          onInput={(event) => setLabel(event.currentTarget.value)}
        />
        <span id="token-label-hint" class="hint">
          {words.labelHint}
        </span>
      </div>
      <fieldset class="field">
        <legend>{words.scopes}</legend>
        {SCOPES.map((scope) => (
          <Choice
            key={scope}
            id={`scope-${scope}`}
            label={words.scope[scope]}
            isChosen={scopes.includes(scope)}
            onChange={(isChosen) => choose(scope, isChosen)}
          />
        ))}
      </fieldset>
      <div class="field">
        <label for="token-day">{words.expires}</label>
        <input
          id="token-day"
          type="date"
          value={day}
          aria-describedby="token-day-hint"
          onInput={(event) => setDay(event.currentTarget.value)}
        />
        <span id="token-day-hint" class="hint">
          {words.expiresHint}
        </span>
      </div>
      <p class="wrong" role="alert">
        {problem}
      </p>
      <div class="buttons">
        <button type="submit" class="main" disabled={isBusy}>
          {isBusy ? words.creating : words.create}
        </button>
        <button type="button" onClick={onClose}>
          {texts.cancel}
        </button>
      </div>
    </form>
  )
}

/** The one time that a token is shown. */
export function NewTokenSecret({ secret, onClose }: { secret: string; onClose(): void }) {
  const [told, setTold] = useState('')
  const field = useRef<HTMLInputElement>(null)
  async function copy() {
    try {
      // Browsers have it only where the page comes over HTTPS or from this machine.
      await navigator.clipboard.writeText(secret)
      setTold(words.copied)
    } catch {
      field.current?.select()
      setTold(words.copyFailed)
    }
  }
  return (
    <>
      <p id="secret-lead">{words.secretLead}</p>
      <span class="pair">
        <input
          ref={field}
          class="secret"
          readOnly
          value={secret}
          aria-label={words.secretTitle}
          aria-describedby="secret-lead"
        />
        <button type="button" class="main" onClick={copy}>
          {words.copy}
        </button>
      </span>
      <p role="status">{told}</p>
      <div class="buttons">
        <button type="button" onClick={onClose}>
          {words.done}
        </button>
      </div>
    </>
  )
}
