import { useCallback, useState } from 'preact/hooks'
import type { Token } from '../../../src/client/plant-store-client.ts'
import { Dialog } from '../parts/dialog.tsx'
import { FailureBanner } from '../parts/failure-banner.tsx'
import { Form } from '../parts/form.tsx'
import type { Notify } from '../parts/notices.tsx'
import { QuotedTextView } from '../parts/quoted-text-view.tsx'
import { dayOf, momentOf } from '../parts/times.ts'
import { useQuery } from '../parts/use-query.ts'
import { useSubmit } from '../parts/use-submit.ts'
import type { Session } from '../session/session.ts'
import { NewToken } from './new-token.tsx'
import { RotateToken } from './rotate-token.tsx'
import { tokenTexts as words } from './texts.ts'
import './tokens-view.css'

/** The list of tokens, and what can be done with them. */
export function TokensView({ session, notify }: { session: Session; notify: Notify }) {
  const { client } = session
  const listTokens = useCallback((signal: AbortSignal) => client.listTokens({ signal }), [client])
  const { data: tokens, failure, retry: reload } = useQuery(listTokens)
  const [isCreating, setCreating] = useState(false)
  const [rotating, setRotating] = useState<Token>()
  const [revoking, setRevoking] = useState<Token>()

  return (
    <div class="view">
      <div class="plants-head">
        <h1>{words.title}</h1>
        <button type="button" class="main" onClick={() => setCreating(true)}>
          {words.create}
        </button>
      </div>
      <p class="lead">{words.lead}</p>
      {tokens !== undefined && (
        <TokenTable tokens={tokens} own={session.token.id} onRotate={setRotating} onRevoke={setRevoking} />
      )}
      <FailureBanner failure={failure} retry={reload} isBeneath={tokens !== undefined} />
      {isCreating && <NewToken client={client} onCreated={reload} onClose={() => setCreating(false)} />}
      {rotating !== undefined && (
        <RotateToken
          session={session}
          token={rotating}
          onRotated={reload}
          onClose={() => setRotating(undefined)}
        />
      )}
      {revoking !== undefined && (
        <Revocation
          session={session}
          token={revoking}
          notify={notify}
          onClose={() => {
            // The dialog of another token may be open by then.
            setRevoking((now) => (now === revoking ? undefined : now))
            reload()
          }}
        />
      )}
    </div>
  )
}

interface TokenTableProps {
  tokens: readonly Token[]
  own: string
  onRotate(token: Token): void
  onRevoke(token: Token): void
}

function TokenTable({ tokens, own, onRotate, onRevoke }: TokenTableProps) {
  if (tokens.length === 0) return <p class="empty">{words.empty}</p>
  return (
    <ul class="tokens">
      {tokens.map((token) => (
        <li key={token.id}>
          <strong>
            <bdi>{token.label || words.noLabel}</bdi>
            {token.id === own && <span class="mark">{words.you}</span>}
          </strong>
          <span class="scopes">{token.scopes.map((scope) => words.scope[scope]).join(', ')}</span>
          <span class="hint">
            {`${words.created} ${dayOf(token.createdAt)} · ${words.expires} ${expiryOf(token)} · `}
            {`${words.lastUsed} ${token.lastUsedAt === undefined ? words.notUsed : momentOf(token.lastUsedAt)}`}
          </span>
          <span class="actions">
            {!isExpired(token) && (
              <button
                type="button"
                aria-label={words.rotateOf(token.label || words.noLabel)}
                onClick={() => onRotate(token)}
              >
                {words.rotate}
              </button>
            )}
            <button
              type="button"
              aria-label={words.revokeOf(token.label || words.noLabel)}
              onClick={() => onRevoke(token)}
            >
              {words.revoke}
            </button>
          </span>
        </li>
      ))}
    </ul>
  )
}

function expiryOf(token: Token): string {
  if (token.expiresAt === undefined) return words.never
  return isExpired(token) ? words.expired : momentOf(token.expiresAt)
}

function isExpired({ expiresAt }: Token): boolean {
  return expiresAt !== undefined && Date.parse(expiresAt) <= Date.now()
}

interface RevocationProps {
  session: Session
  token: Token
  notify: Notify
  onClose(): void
}

function Revocation({ session, token, notify, onClose }: RevocationProps) {
  const submission = useSubmit([])
  const label = token.label || words.noLabel
  const revoke = () =>
    submission.submit(async () => {
      await session.client.revokeToken(token.id)
      notify({ text: words.revoked(label) })
      onClose()
    })
  return (
    <Dialog title={words.revokeTitle} onClose={onClose}>
      <Form
        submission={submission}
        label={words.revoke}
        closeLabel={words.keep}
        isDanger
        onSubmit={revoke}
        onClose={onClose}
      >
        <p class="long">
          <QuotedTextView text={words.revokeQuestion(label)} />
        </p>
        {token.id === session.token.id && <p class="wrong">{words.revokeOwn}</p>}
      </Form>
    </Dialog>
  )
}
