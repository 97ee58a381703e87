import { useState } from 'preact/hooks'
import type { CreatedToken, PlantStoreClient, Scope } from '../../../src/client/plant-store-client.ts'
import { Dialog } from '../parts/dialog.tsx'
import { Choice, Field } from '../parts/field.tsx'
import { Form } from '../parts/form.tsx'
import { type Submission, useSubmit } from '../parts/use-submit.ts'
import { tokenTexts as words } from './texts.ts'
import { TokenSecret } from './token-secret.tsx'

const SCOPES = Object.keys(words.scope) as Scope[]
/** The members of a new token that the service may reject. */
const TOKEN_FIELDS = ['label', 'scopes', 'expiresAt'] as const
const LABEL_CHARACTERS_MAX = 200

interface NewTokenProps {
  client: PlantStoreClient
  onCreated(token: CreatedToken): void
  onClose(): void
}

/** Creates a token and shows its secret once. */
export function NewToken({ client, onCreated, onClose }: NewTokenProps) {
  const [created, setCreated] = useState<CreatedToken>()
  const submission = useSubmit(TOKEN_FIELDS)
  function show(token: CreatedToken) {
    setCreated(token)
    onCreated(token)
  }
  return (
    <Dialog
      title={created === undefined ? words.create : words.secretTitle}
      asksToDiscard
      isLocked={submission.isSubmitting || created !== undefined}
      onClose={onClose}
    >
      {created === undefined ? (
        <NewTokenForm client={client} submission={submission} onCreated={show} onClose={onClose} />
      ) : (
        <TokenSecret secret={created.token} onClose={onClose} />
      )}
    </Dialog>
  )
}

interface NewTokenFormProps extends NewTokenProps {
  submission: Submission<(typeof TOKEN_FIELDS)[number]>
}

function NewTokenForm({ client, submission, onCreated, onClose }: NewTokenFormProps) {
  const [label, setLabel] = useState('')
  const [scopes, setScopes] = useState<readonly Scope[]>(['plants:read'])
  const [day, setDay] = useState('')
  const { errors } = submission

  function create() {
    const expiresAt = day === '' ? undefined : new Date(`${day}T23:59:59`)
    if (scopes.length === 0) return submission.setErrors({ scopes: words.scopeMissing })
    if (expiresAt !== undefined && !(expiresAt.getTime() > Date.now())) {
      return submission.setErrors({ expiresAt: words.datePast })
    }
    const token = { label: label.trim(), scopes: [...scopes] }
    void submission.submit(async () =>
      onCreated(
        await client.createToken(expiresAt ? { ...token, expiresAt: expiresAt.toISOString() } : token),
      ),
    )
  }
  function choose(scope: Scope, isChosen: boolean) {
    setScopes(SCOPES.filter((one) => (one === scope ? isChosen : scopes.includes(one))))
  }
  return (
    <Form
      submission={submission}
      label={words.create}
      busyLabel={words.creating}
      isLocked
      onSubmit={create}
      onClose={onClose}
    >
      <Field
        id="token-label"
        label={words.label}
        hint={words.labelHint}
        error={errors.label}
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
            errorId={errors.scopes && 'scopes-error'}
            onChange={(isChosen) => choose(scope, isChosen)}
          />
        ))}
        <span id="scopes-error" class="wrong" role="alert">
          {errors.scopes}
        </span>
      </fieldset>
      <Field
        id="token-day"
        label={words.expires}
        hint={words.expiresHint}
        error={errors.expiresAt}
        type="date"
        value={day}
        onText={setDay}
      />
    </Form>
  )
}
