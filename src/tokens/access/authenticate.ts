import type { FastifyRequest } from 'fastify'
import { AppError } from '../../errors.ts'
import type { Authorize } from '../../http/guard-routes.ts'
import {
  FIXED_TOKEN_ID,
  hashToken,
  PROVIDER_ID_PREFIX,
  SCOPES,
  type Scope,
  type StoredToken,
} from '../token.ts'
import type { TokenStore } from '../token-store.ts'
import { bearerTextOf, insufficientScope, invalidToken, isJwt, parseBearerToken } from './bearer-token.ts'
import type { TokenGuessLimit } from './token-guess-limit.ts'

/** The last use is recorded to the minute: a write a request would cost more than the request. */
const USE_RECORDED_EVERY_MS = 60_000

/** How long a cached token is trusted: with the time of a request, well under the promised 5 seconds. */
const TRUST_MS = 2_000

/** Cached tokens; beyond it the oldest entry is dropped and read again when needed. */
const CACHED_TOKENS_MAX = 1_000

/** How nearly every request spells it, read without a regular expression. */
const USUAL_PREFIX = 'Bearer '

/**
 * Verifies a JWT of an OpenID provider and returns it as a token, which may have expired. Throws 40102 if it is
 * not valid, 50302 if that cannot be determined now.
 */
export type JwtVerifier = (text: string) => Promise<StoredToken>

export interface AuthenticatorOptions {
  tokens: TokenStore
  /** A token with every scope that the store does not hold (the setting `fixedToken`). */
  fixedToken?: string | undefined
  /** Verifies the JWTs of an OpenID provider, if one is set. */
  verifyJwt?: JwtVerifier | undefined
  /** How many unknown tokens an address may send; unlimited without it. */
  tokenGuessLimit?: TokenGuessLimit | undefined
  /** Called with each request that is rejected for its token: 40102, 40301. */
  onRejected?: ((request: FastifyRequest, error: AppError) => void) | undefined
}

/**
 * Authenticates a request, sets `request.caller`, and calls `done` with an AppError unless the token is valid and has
 * the scope: 40101, 40102, 42901, 40301. Synchronous if the token is cached.
 */
export interface Authenticator extends Authorize {
  /**
   * Checks the token of an accepted request again, as a body may arrive long after its head: calls `done` with 40102
   * if it was revoked or rotated since, and updates `request.caller`. A token that expires during a request does
   * not abort it. Synchronous if the token is cached.
   */
  recheckToken(request: FastifyRequest, done: (error?: Error) => void): void
  /** Drops a token from the cache: for one that this process revoked or rotated. */
  forget(tokenId: string): void
}

/** A cached token, by its text, so that a known one costs no hash. */
interface CachedToken {
  token: StoredToken
  /** Whether it is in the store, which records its use. */
  isStored: boolean
  expiresAtMs: number
  readAtMs: number
}

export function createAuthenticator(options: AuthenticatorOptions): Authenticator {
  const { tokens, fixedToken, verifyJwt, tokenGuessLimit } = options
  const cache = createTokenCache(tokens.nowMs)
  const fixedRecord = fixedTokenRecord(tokens.nowMs())
  const fixedHash = fixedToken === undefined ? undefined : hashToken(fixedToken)

  async function find(request: FastifyRequest, field: string | undefined): Promise<CachedToken> {
    const text = parseBearerToken(field)
    // A token that was valid a while ago is not a guess: others at the same address must not lock its owner out.
    const rejection = cache.has(text) ? undefined : tokenGuessLimit?.rejectionOf(request)
    if (rejection !== undefined) throw rejection
    return read(text)
  }

  async function read(text: string): Promise<CachedToken> {
    const put = cache.beginRead()
    const hash = hashToken(text)
    let token = hash === fixedHash ? fixedRecord : undefined
    if (token === undefined && verifyJwt !== undefined && isJwt(text)) token = await verifyJwt(text)
    const isStored = token === undefined
    token ??= await tokens.findByHash(hash)
    if (token === undefined) throw invalidToken('The token is unknown. It was mistyped or revoked.')
    return put(text, token, isStored)
  }

  function check(request: FastifyRequest, found: CachedToken, scope: Scope | 'any'): AppError | undefined {
    const { token, isStored, expiresAtMs } = found
    const now = tokens.nowMs()
    if (now >= expiresAtMs) return reject(request, invalidToken('The token has expired.'))
    request.caller = token
    if (isStored && now - (token.lastUsedAtMs ?? 0) >= USE_RECORDED_EVERY_MS) {
      token.lastUsedAtMs = now
      tokens.recordUse(token.id, now)
    }
    if (scope === 'any' || token.scopes.includes(scope)) return undefined
    return reject(request, insufficientScope(scope))
  }

  /** Reports a rejected token; a missing token (40101) is not reported. */
  function reject<Failure extends Error>(request: FastifyRequest, error: Failure): Failure {
    if (error instanceof AppError && (error.code === 40102 || error.code === 40301)) {
      options.onRejected?.(request, error)
    }
    return error
  }

  function authenticate(request: FastifyRequest, scope: Scope | 'any', done: (error?: Error) => void): void {
    const field = request.headers.authorization
    const text = tokenTextOf(field)
    const known = cache.trusted(text)
    if (known !== undefined) {
      done(check(request, known, scope))
      return
    }
    find(request, field).then(
      (found) => done(check(request, found, scope)),
      (error: Error) => {
        const isGuess = error instanceof AppError && error.code === 40102
        if (isGuess && text !== undefined) cache.drop(text)
        done(reject(request, (isGuess ? tokenGuessLimit?.count(request) : undefined) ?? error))
      },
    )
  }

  function recheckToken(request: FastifyRequest, done: (error?: Error) => void): void {
    const field = request.headers.authorization
    const known = cache.trusted(tokenTextOf(field))
    if (known !== undefined) request.caller = known.token
    // Tokens that are not stored cannot be revoked: they only expire.
    if (known !== undefined || !isStoredId(request.caller.id)) {
      done()
      return
    }
    read(parseBearerToken(field)).then(
      ({ token }) => {
        request.caller = token
        done()
      },
      (error: Error) => done(reject(request, error)),
    )
  }

  return Object.assign(authenticate, { recheckToken, forget: cache.forget })
}

/** The text to look up among valid tokens, without validation. */
function tokenTextOf(field: string | undefined): string | undefined {
  if (field === undefined) return undefined
  const isUsual = field.startsWith(USUAL_PREFIX) && field[USUAL_PREFIX.length] !== ' '
  return isUsual ? field.slice(USUAL_PREFIX.length) : bearerTextOf(field)
}

/**
 * Valid tokens by their text, so that no spelling of the Authorization field takes a second entry. Unknown tokens are
 * never cached.
 */
function createTokenCache(nowMs: () => number) {
  const entries = new Map<string, CachedToken>()
  let forgottenTokens = 0

  return {
    /** The token of this text, while it is trusted. */
    trusted(text: string | undefined): CachedToken | undefined {
      const known = text === undefined ? undefined : entries.get(text)
      if (known === undefined) return undefined
      const ageMs = nowMs() - known.readAtMs
      // Negative if the clock was set back: the real age is unknown then.
      return ageMs >= 0 && ageMs < TRUST_MS ? known : undefined
    },
    /** Whether the token of this text was valid, if only a while ago. */
    has: (text: string) => entries.has(text),
    /** Called before a token is read, as a later change may be missing in the result; returns what caches that. */
    beginRead() {
      const readAtMs = nowMs()
      const forgottenBefore = forgottenTokens
      return (text: string, token: StoredToken, isStored: boolean): CachedToken => {
        const found = {
          token,
          isStored,
          expiresAtMs: token.expiresAtMs ?? Number.POSITIVE_INFINITY,
          readAtMs,
        }
        if (forgottenTokens !== forgottenBefore) return found
        entries.delete(text)
        if (entries.size >= CACHED_TOKENS_MAX) {
          const [oldest = ''] = entries.keys()
          entries.delete(oldest)
        }
        entries.set(text, found)
        return found
      }
    },
    drop: (text: string) => void entries.delete(text),
    forget(tokenId: string): void {
      forgottenTokens++
      for (const [text, { token }] of entries) if (token.id === tokenId) entries.delete(text)
    },
  }
}

function fixedTokenRecord(createdAtMs: number): StoredToken {
  return { id: FIXED_TOKEN_ID, label: 'the setting PLANTSTORE_FIXED_TOKEN', scopes: SCOPES, createdAtMs }
}

function isStoredId(id: string): boolean {
  return id !== FIXED_TOKEN_ID && !id.startsWith(PROVIDER_ID_PREFIX)
}
