import { useRef, useState } from 'preact/hooks'
import type { CreatedToken, PlantStoreClient, Scope } from '../../src/client/plant-store-client.ts'
import { Choice, Field } from './field.tsx'
import { Form } from './form.tsx'
import { texts } from './texts.ts'
import { useSending } from './use-sending.ts'

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
  const sending = useSending(['label', 'scopes', 'expiresAt'])
  const { problems } = sending

  function make() {
    const expiresAt = day === '' ? undefined : new Date(`${day}T23:59:59`)
    if (scopes.length === 0) return sending.complain({ scopes: words.scopeMissing })
    if (expiresAt !== undefined && !(expiresAt.getTime() > Date.now())) {
      return sending.complain({ expiresAt: words.datePast })
    }
    const wanted = { label: label.trim(), scopes: [...scopes] }
    void sending.send(async () =>
      onMade(
        await client.createToken(expiresAt ? { ...wanted, expiresAt: expiresAt.toISOString() } : wanted),
      ),
    )
  }
  function choose(scope: Scope, isChosen: boolean) {
    setScopes(SCOPES.filter((one) => (one === scope ? isChosen : scopes.includes(one))))
  }
  return (
    <Form sending={sending} label={words.create} busyLabel={words.creating} onSend={make} onClose={onClose}>
      <Field
        id="token-label"
        label={words.label}
        hint={words.labelHint}
        problem={problems.label}
        maxLength={LABEL_CHARACTERS_MAX}
        value={label}
        isFirst
        onText={setLabel}
      />
      <fieldset class="field">
        <legend>{words.scopes}</legend>
        {SCOPES.map((scope) => (
          <Choice
            key={scope}
            id={`scope-${scope}`}
            label={words.scope[scope]}
            isChosen={scopes.includes(scope)}
            problem={problems.scopes && 'scopes-problem'}
            onChange={(isChosen) => choose(scope, isChosen)}
          />
        ))}
        <span id="scopes-problem" class="wrong" role="alert">
          {problems.scopes}
        </span>
      </fieldset>
      <Field
        id="token-day"
        label={words.expires}
        hint={words.expiresHint}
        problem={problems.expiresAt}
        type="date"
        value={day}
        onText={setDay}
      />
    </Form>
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
