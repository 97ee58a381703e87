import {
  generateToken,
  generateTokenId,
  hashToken,
  isExpired,
  type NewToken,
  type StoredToken,
} from './token.ts'
import type { TokenStore } from './token-store.ts'

/** A new token: its secret, and its stored data. */
export interface IssuedToken {
  token: string
  stored: StoredToken
}

/** Creates a token and stores its hash; the secret is in the result only. */
export async function issueToken(tokens: TokenStore, wanted: NewToken): Promise<IssuedToken> {
  const issued = generateIssuedToken(wanted, tokens.nowMs())
  await tokens.create(issued.stored, hashToken(issued.token))
  return issued
}

/** Creates a token for a store without one; undefined if it has one, of another replica for example. */
export async function issueFirstToken(
  tokens: TokenStore,
  wanted: NewToken,
): Promise<IssuedToken | undefined> {
  const issued = generateIssuedToken(wanted, tokens.nowMs())
  return (await tokens.createFirst(issued.stored, hashToken(issued.token))) ? issued : undefined
}

function generateIssuedToken(wanted: NewToken, createdAtMs: number): IssuedToken {
  return { token: generateToken(), stored: { id: generateTokenId(), ...wanted, createdAtMs } }
}

/**
 * Gives a token a new secret, which is in the result only. The old secret stays valid for `graceSeconds`. Returns
 * `absent` for an unknown token, and `expired` for an expired one: a new secret would not renew it.
 */
export async function rotateToken(
  tokens: TokenStore,
  id: string,
  graceSeconds: number,
): Promise<IssuedToken | 'absent' | 'expired'> {
  const nowMs = tokens.nowMs()
  const found = (await tokens.list()).find((stored) => stored.id === id)
  if (found !== undefined && isExpired(found, nowMs)) return 'expired'
  const token = generateToken()
  const graceEndsAtMs = graceSeconds === 0 ? undefined : nowMs + graceSeconds * 1000
  const stored = await tokens.rotate(id, hashToken(token), graceEndsAtMs)
  return stored === undefined ? 'absent' : { token, stored }
}
