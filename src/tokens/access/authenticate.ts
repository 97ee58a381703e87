import type { FastifyRequest } from 'fastify'
import { AppError } from '../../errors.ts'
import {
  FIXED_TOKEN_ID,
  hashToken,
  isExpired,
  PROVIDER_ID_PREFIX,
  SCOPES,
  type Scope,
  type StoredToken,
} from '../token.ts'
import type { TokenStore } from '../token-store.ts'
import { createRememberedTokens, type KnownToken } from './remembered-tokens.ts'
import type { TokenGuessLimit } from './token-guess-limit.ts'

/** The last use is noted to the minute: a write a request would cost more than the request. */
const USE_NOTED_EVERY_MS = 60_000

/** RFC 9110 §11.4 (scheme in any case, spaces) with the token68 of RFC 6750 §2.1. */
const BEARER = /^bearer(?: +(.*))?$/i
/** Three parts (RFC 7515 §7.1), the last one empty where it is not signed. No token of a store has a dot. */
const JWT = /^[A-Za-z0-9\-_]+\.[A-Za-z0-9\-_]+\.[A-Za-z0-9\-_]*$/
const TOKEN_TEXT = /^[A-Za-z0-9\-._~+/]+=*$/

const CHALLENGE = 'Bearer realm="plantstore"'

/**
 * Gives who a JWT of an OpenID provider is of, as a token, with what it may do and until when, be that over; never one
 * of those in a store. Throws 40102 where it is not good, and 50302 where that cannot be told for now.
 */
export type JwtVerifier = (text: string) => Promise<StoredToken>

export interface AuthenticatorOptions {
  tokens: TokenStore
  /** One token with every scope that the store does not hold (the setting `token`). */
  fixedToken?: string | undefined
  /** Knows the JWTs of an OpenID provider, if one is set. */
  verifyJwt?: JwtVerifier | undefined
  /** How many unknown tokens an address may send; any number without it. */
  tokenGuessLimit?: TokenGuessLimit | undefined
  nowMs?: () => number
}

/**
 * Finds out who sent a request, notes it as `request.caller`, and tells `done` an AppError unless the token
 * is good and has the scope: 40101, 40102, 42901, 40301. `undefined` asks for any valid token. Without a wait where
 * the token is known.
 */
export interface Authenticator {
  (request: FastifyRequest, scope: Scope | undefined, done: (error?: Error) => void): void
  /**
   * Judges a request again that was let in, as its body may come long after its head: tells `done` 40102 where the token
   * was revoked or ended by a rotation since, and brings `request.caller` up to date. An end that was known when the
   * request began is none: it was in time. Without a wait where the token is known.
   */
  recheckToken(request: FastifyRequest, done: (error?: Error) => void): void
  /** Trusts a token no longer without reading it again: for one that was revoked or rotated by this very process. */
  forget(tokenId: string): void
}

export function createAuthenticator({
  tokens,
  fixedToken,
  verifyJwt,
  tokenGuessLimit,
  nowMs = Date.now,
}: AuthenticatorOptions): Authenticator {
  const remembered = createRememberedTokens(nowMs)
  const fixed =
    fixedToken === undefined ? undefined : { hash: hashToken(fixedToken), token: fixedTokenRecord(nowMs()) }

  async function find(request: FastifyRequest, field: string | undefined): Promise<KnownToken> {
    const text = tokenIn(field)
    // What was good a while ago is no guess: a neighbour at the same address locks nobody out.
    const refusal = remembered.has(field as string) ? undefined : tokenGuessLimit?.refusalOf(request)
    if (refusal !== undefined) throw refusal
    return look(field as string, text)
  }

  async function look(field: string, text: string): Promise<KnownToken> {
    const hash = hashToken(text)
    const remember = remembered.beginLook()
    let isStored = false
    let token = hash === fixed?.hash ? fixed.token : undefined
    if (token === undefined && verifyJwt !== undefined && JWT.test(text)) token = await verifyJwt(text)
    if (token === undefined) {
      token = await tokens.findByHash(hash)
      isStored = true
    }
    if (token === undefined) throw invalidToken('The token is not known: it is mistyped or was revoked.')
    const known = { token, isStored }
    remember(field, known)
    return known
  }

  function admit(request: FastifyRequest, known: KnownToken, scope: Scope | undefined): Error | undefined {
    const { token, isStored } = known
    const now = nowMs()
    if (isExpired(token, now)) return invalidToken('The token has expired.')
    request.caller = token
    if (isStored && now - (token.lastUsedAtMs ?? 0) >= USE_NOTED_EVERY_MS) {
      token.lastUsedAtMs = now
      tokens.recordUse(token.id, now)
    }
    return scope === undefined || token.scopes.includes(scope) ? undefined : insufficientScope(scope)
  }

  function authenticate(
    request: FastifyRequest,
    scope: Scope | undefined,
    done: (error?: Error) => void,
  ): void {
    const field = request.headers.authorization
    const known = remembered.trusted(field)
    if (known !== undefined) {
      done(admit(request, known, scope))
      return
    }
    find(request, field).then(
      (found) => done(admit(request, found, scope)),
      (error: Error) => done(recordFailure(request, field, error)),
    )
  }

  function recheckToken(request: FastifyRequest, done: (error?: Error) => void): void {
    const { caller, headers } = request
    const field = headers.authorization ?? ''
    const known = remembered.trusted(field)
    if (known !== undefined) request.caller = known.token
    // The others end by themselves alone.
    if (known !== undefined || !isStoredId(caller.id)) {
      done()
      return
    }
    look(field, tokenIn(field)).then(({ token }) => {
      request.caller = token
      done()
    }, done)
  }

  /** Nothing is counted where no token was sent: that is no guess, and costs nothing. */
  function recordFailure(request: FastifyRequest, field: string | undefined, error: Error): Error {
    if (!(error instanceof AppError) || error.code !== 40102) return error
    remembered.drop(field as string)
    return tokenGuessLimit?.count(request) ?? error
  }

  return Object.assign(authenticate, { recheckToken, forget: remembered.forget })
}

function fixedTokenRecord(createdAtMs: number): StoredToken {
  return { id: FIXED_TOKEN_ID, label: 'the setting PLANTSTORE_FIXED_TOKEN', scopes: SCOPES, createdAtMs }
}

function isStoredId(id: string): boolean {
  return id !== FIXED_TOKEN_ID && !id.startsWith(PROVIDER_ID_PREFIX)
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

/** 40102, with what is wrong with the token. */
export function invalidToken(message: string): AppError {
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
