import { useState } from 'preact/hooks'
import type { CreatedToken, PlantStoreClient, Scope } from '../../../src/client/plant-store-client.ts'
import { Dialog } from '../parts/dialog.tsx'
import { Choice, Field } from '../parts/field.tsx'
import { Form } from '../parts/form.tsx'
import { type Sending, useSubmit } from '../parts/use-submit.ts'
import { TokenSecret } from './token-secret.tsx'
import { tokenTexts as words } from './token-texts.ts'

const SCOPES = Object.keys(words.scope) as Scope[]
/** The members of a new token that the service may refuse. */
const TOKEN_FIELDS = ['label', 'scopes', 'expiresAt'] as const
const LABEL_CHARACTERS_MAX = 200

interface NewTokenProps {
  client: PlantStoreClient
  onMade(token: CreatedToken): void
  onClose(): void
}

/** Makes a token, and shows it this once. */
export function NewToken({ client, onMade, onClose }: NewTokenProps) {
  const [made, setMade] = useState<CreatedToken>()
  const sending = useSubmit(TOKEN_FIELDS)
  function show(token: CreatedToken) {
    setMade(token)
    onMade(token)
  }
  return (
    <Dialog
      title={made === undefined ? words.create : words.secretTitle}
      isHeld={sending.isBusy || made !== undefined}
      onClose={onClose}
    >
      {made === undefined ? (
        <NewTokenForm client={client} sending={sending} onMade={show} onClose={onClose} />
      ) : (
        <TokenSecret secret={made.token} onClose={onClose} />
      )}
    </Dialog>
  )
}

interface NewTokenFormProps extends NewTokenProps {
  sending: Sending<(typeof TOKEN_FIELDS)[number]>
}

function NewTokenForm({ client, sending, onMade, onClose }: NewTokenFormProps) {
  const [label, setLabel] = useState('')
  const [scopes, setScopes] = useState<readonly Scope[]>(['plants:read'])
  const [day, setDay] = useState('')
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
    <Form
      sending={sending}
      label={words.create}
      busyLabel={words.creating}
      isHeld
      onSend={make}
      onClose={onClose}
    >
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
