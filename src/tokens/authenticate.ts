import type { FastifyRequest } from 'fastify'
import { AppError } from '../errors.ts'
import { FIXED_TOKEN_ID, hashToken, isExpired, SCOPES, type Scope, type StoredToken } from './token.ts'
import type { TokenStore } from './token-store.ts'

/**
 * How long a token is trusted after it was read: with the time of a request, well under the promised 5
 * seconds.
 */
const TRUST_MS = 2_000

/** Tokens remembered at once; beyond it the longest remembered is read again. */
const REMEMBERED_TOKENS_MAX = 1_000

/** The last use is noted to the minute: a write a request would cost more than the request. */
const USE_NOTED_EVERY_MS = 60_000

/** RFC 9110 §11.4 (scheme in any case, spaces) with the token68 of RFC 6750 §2.1. */
const BEARER = /^bearer(?: +(.*))?$/i
const TOKEN_TEXT = /^[A-Za-z0-9\-._~+/]+=*$/

const CHALLENGE = 'Bearer realm="plantstore"'

export interface AuthenticatorOptions {
  tokens: TokenStore
  /** One token with every scope that the store does not hold (the setting `token`). */
  fixedToken?: string | undefined
  nowMs?: () => number
}

/**
 * Finds out who sent a request, notes it as `request.caller`, and tells `done` an AppError unless the token
 * is good and has the scope: 40101, 40102, 40301. `undefined` asks for any valid token. Without a wait where
 * the token is known.
 */
export interface Authenticator {
  (request: FastifyRequest, scope: Scope | undefined, done: (error?: Error) => void): void
  /** Trusts a token no longer without reading it again: for one that was revoked by this very process. */
  forget(tokenId: string): void
}

export function createAuthenticator({
  tokens,
  fixedToken,
  nowMs = Date.now,
}: AuthenticatorOptions): Authenticator {
  /**
   * By the whole Authorization field, so that a known one costs no hash. Unknown ones are never remembered.
   */
  const remembered = new Map<string, { token: StoredToken; readAtMs: number }>()
  const fixed =
    fixedToken === undefined ? undefined : { hash: hashToken(fixedToken), token: fixedTokenRecord(nowMs()) }

  async function find(field: string | undefined): Promise<StoredToken> {
    const text = tokenIn(field)
    const hash = hashToken(text)
    const token = hash === fixed?.hash ? fixed.token : await tokens.findByHash(hash)
    if (token === undefined) throw invalidToken('The token is not known: it is mistyped or was revoked.')
    if (remembered.size >= REMEMBERED_TOKENS_MAX) {
      const [oldest = ''] = remembered.keys()
      remembered.delete(oldest)
    }
    remembered.set(field as string, { token, readAtMs: nowMs() })
    return token
  }

  function admit(request: FastifyRequest, token: StoredToken, scope: Scope | undefined): Error | undefined {
    const now = nowMs()
    if (isExpired(token, now)) return invalidToken('The token has expired.')
    request.caller = token
    if (token !== fixed?.token && now - (token.lastUsedAtMs ?? 0) >= USE_NOTED_EVERY_MS) {
      token.lastUsedAtMs = now
      tokens.noteUse(token.id, now)
    }
    return scope === undefined || token.scopes.includes(scope) ? undefined : insufficientScope(scope)
  }

  function authenticate(
    request: FastifyRequest,
    scope: Scope | undefined,
    done: (error?: Error) => void,
  ): void {
    const field = request.headers.authorization
    const known = field === undefined ? undefined : remembered.get(field)
    if (known !== undefined && nowMs() - known.readAtMs < TRUST_MS) {
      done(admit(request, known.token, scope))
      return
    }
    if (known !== undefined) remembered.delete(field as string)
    find(field).then(
      (token) => done(admit(request, token, scope)),
      (error: Error) => done(error),
    )
  }

  function forget(tokenId: string): void {
    for (const [field, { token }] of remembered) if (token.id === tokenId) remembered.delete(field)
  }

  return Object.assign(authenticate, { forget })
}

function fixedTokenRecord(createdAtMs: number): StoredToken {
  return { id: FIXED_TOKEN_ID, label: 'the setting PLANTSTORE_TOKEN', scopes: SCOPES, createdAtMs }
}

/** The token in an Authorization field. Two fields arrive joined by a comma, which no token holds. */
function tokenIn(field: string | undefined): string {
  const bearer = BEARER.exec(field ?? '')
  if (bearer === null) {
    throw new AppError(40101, 'Send a token: Authorization: Bearer <token>.', {
      headers: { 'www-authenticate': CHALLENGE },
    })
  }
  const text = bearer[1] ?? ''
  if (!TOKEN_TEXT.test(text))
    throw invalidToken('The Authorization field holds no token of the Bearer scheme.')
  return text
}

function invalidToken(message: string): AppError {
  return new AppError(40102, message, {
    headers: { 'www-authenticate': `${CHALLENGE}, error="invalid_token"` },
  })
}

/** 40301: the caller lacks that scope; `message` where another one says more. */
export function insufficientScope(
  scope: Scope,
  message = `This needs a token with the scope ${scope}.`,
): AppError {
  return new AppError(40301, message, {
    headers: { 'www-authenticate': `${CHALLENGE}, error="insufficient_scope", scope="${scope}"` },
  })
}
