import {
  decodeJwt,
  errors,
  type JWTPayload,
  type JWTVerifyGetKey,
  type JWTVerifyOptions,
  type JWTVerifyResult,
  jwtVerify,
} from 'jose'
import { AppError } from '../errors.ts'
import type { JwtVerifier } from '../tokens/access/authenticate.ts'
import { invalidToken } from '../tokens/access/bearer-token.ts'
import {
  hashToken,
  isExpired,
  LABEL_CHARACTERS_MAX,
  PROVIDER_ID_PREFIX,
  type StoredToken,
  TIME_MS_MAX,
  UNFIT_FOR_A_LINE,
} from '../tokens/token.ts'
import { grantedScopes, type ScopeMapping } from './granted-scopes.ts'
import {
  createProviderKeys,
  KEYS_AGE_MAX_MS,
  type ProviderKeys,
  type ProviderKeysOptions,
  ProviderUnavailable,
} from './provider-keys.ts'

/** Asymmetric ones alone: with HS256 the published key would be the secret (RFC 8725 §2.1). */
const ALGORITHMS = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
]

/** How far the clocks of provider and service may be apart. */
const LEEWAY_MS = 30_000

/** Good tokens that are remembered for when the provider does not answer; beyond it the oldest goes. */
const VERIFIED_TOKENS_MAX = 1_000

/** The header's `typ`, where there is one (RFC 9068 §2.1; older providers write JWT). */
const ACCESS_TOKEN_TYPE = /^(?:(?:application\/)?at\+jwt|(?:application\/)?jwt)$/i

/** Claims of ID tokens (OpenID Connect Core §3.3.2.11), which are for the client and open nothing. */
const ID_TOKEN_CLAIMS = ['at_hash', 'c_hash']

export interface OpenIdTokensOptions extends ProviderKeysOptions {
  /** What the provider calls this service: the claim `aud`. */
  audience: string
  /** Which claim tells what a token may do, and what its values grant here. */
  scopeClaim: string
  scopes: ScopeMapping
}

/** The provider publishes a key that cannot be used; the cause says why. */
class UnusableKey extends Error {
  override readonly name = 'UnusableKey'
}

/** Verifies access tokens of an OpenID provider. What it promises is written at `JwtVerifier`. */
export function createOpenIdTokens(options: OpenIdTokensOptions): JwtVerifier {
  const { issuer, audience, scopeClaim, scopes } = options
  const keys = createProviderKeys(options)
  const verified = new Map<string, StoredToken>()
  /** When keys were last asked for in vain, by `performance.now()`. */
  let failedMs = Number.NEGATIVE_INFINITY
  const rules: JWTVerifyOptions = {
    issuer,
    audience,
    algorithms: ALGORITHMS,
    clockTolerance: LEEWAY_MS / 1000,
    requiredClaims: ['exp', 'sub'],
  }

  async function verify(text: string): Promise<StoredToken> {
    // Before any key is looked for: a token of somebody else is no reason to ask the provider.
    if (decodeJwt(text).iss !== issuer) throw invalidToken('The token is of another issuer (iss).')
    try {
      const { payload, protectedHeader } = await verifySignature(text, keys, rules)
      judgeKind(payload, protectedHeader.typ)
      return callerOf(payload, grantedScopes(payload, scopeClaim, scopes))
    } catch (error) {
      // All else was judged before. Like one of the store that has expired it is no guess, and refused for its end alone.
      if (error instanceof errors.JWTExpired) return callerOf(error.payload, [])
      throw error
    }
  }

  /** What was good before goes on while the provider does not answer; undefined where it must be verified. */
  async function goingOn(hash: string): Promise<StoredToken | undefined> {
    const token = verified.get(hash)
    if (token === undefined || keys.fresh) return undefined
    if (isExpired(token, Date.now())) {
      verified.delete(hash)
      return undefined
    }
    const asked = keys.reload().then(
      () => undefined,
      () => {
        failedMs = performance.now()
        return token
      },
    )
    // Nobody waits for a provider that did not answer lately: what it withdrew is trusted so much longer.
    return performance.now() - failedMs < KEYS_AGE_MAX_MS ? token : asked
  }

  // Ahead of the first token, so that a wrong issuer is told in the log at the start.
  keys.reload().catch(() => {})

  return async (text) => {
    const hash = hashToken(text)
    const known = await goingOn(hash)
    if (known !== undefined) return known
    try {
      const token = await verify(text)
      if (isExpired(token, Date.now())) return token
      verified.delete(hash)
      if (verified.size >= VERIFIED_TOKENS_MAX) verified.delete(verified.keys().next().value ?? '')
      verified.set(hash, token)
      return token
    } catch (error) {
      throw refusalOf(error, audience)
    }
  }
}

/** Verifies with the key that the token names, or with each that fits where it names none. */
async function verifySignature(
  text: string,
  keys: ProviderKeys,
  rules: JWTVerifyOptions,
): Promise<JWTVerifyResult> {
  try {
    return await verifyWith(text, keys, rules)
  } catch (error) {
    if (error instanceof errors.JWKSMultipleMatchingKeys) return verifyWithEach(text, error, rules)
    if (!(error instanceof errors.JWSSignatureVerificationFailed) || keys.coolingDown) throw error
    // A provider may have put another key in the place of one, under its name or without any.
    await keys.reload()
    return verifyWith(text, keys, rules)
  }
}

/** As `jwtVerify`, which throws whatever the platform says of a key that is too weak (RFC 7518 §3.3), or none. */
async function verifyWith(
  text: string,
  key: JWTVerifyGetKey,
  rules: JWTVerifyOptions,
): Promise<JWTVerifyResult> {
  try {
    return await jwtVerify(text, key, rules)
  } catch (error) {
    if (error instanceof errors.JOSEError || error instanceof ProviderUnavailable) throw error
    throw new UnusableKey(undefined, { cause: error })
  }
}

async function verifyWithEach(
  text: string,
  candidates: errors.JWKSMultipleMatchingKeys,
  rules: JWTVerifyOptions,
): Promise<JWTVerifyResult> {
  for await (const key of candidates) {
    try {
      return await verifyWith(text, async () => key, rules)
    } catch (error) {
      if (!(error instanceof errors.JWSSignatureVerificationFailed || error instanceof UnusableKey))
        throw error
    }
  }
  throw new errors.JWSSignatureVerificationFailed()
}

/** Refuses what the provider signed for another purpose than to open this service. */
function judgeKind(payload: JWTPayload, type: string | undefined): void {
  // Keycloak tells the kind in a claim of that name, too.
  const isIdToken = payload.typ === 'ID' || ID_TOKEN_CLAIMS.some((claim) => Object.hasOwn(payload, claim))
  if (isIdToken || (type !== undefined && !ACCESS_TOKEN_TYPE.test(type))) {
    throw invalidToken('The token is no access token: an ID token, say, is for the client alone.')
  }
  if (Object.hasOwn(payload, 'cnf')) {
    throw invalidToken(
      'The token is bound to a key of its client (cnf), which a Bearer token does not prove.',
    )
  }
}

function callerOf({ iss, sub, exp = 0, iat }: JWTPayload, scopes: StoredToken['scopes']): StoredToken {
  if (typeof sub !== 'string' || sub === '')
    throw invalidToken('The token says nothing of whose it is (sub).')
  return {
    // Of issuer and subject, so that idempotency keys outlive a token that is renewed every few minutes.
    id: PROVIDER_ID_PREFIX + hashToken(JSON.stringify([iss, sub])).slice(0, 32),
    label: labelOf(sub),
    scopes,
    createdAtMs: timeMs(iat ?? Date.now() / 1000),
    expiresAtMs: timeMs(exp + LEEWAY_MS / 1000),
  }
}

/** A subject as one line of text, whatever the provider lets be in it. */
function labelOf(subject: string): string {
  return [...subject].slice(0, LABEL_CHARACTERS_MAX).join('').replace(UNFIT_FOR_A_LINE, '\ufffd')
}

/** A time of a token, brought into what can be written. */
function timeMs(seconds: number): number {
  return Math.floor(Math.min(Math.max(seconds * 1000, 0), TIME_MS_MAX))
}

/** What a failed verification is answered with: 40102 for what is wrong with the token, 50302 for the provider. */
function refusalOf(error: unknown, audience: string): unknown {
  if (error instanceof AppError) return error
  if (error instanceof ProviderUnavailable || isOfKeys(error)) {
    const message =
      'The OpenID provider does not respond, so the token cannot be verified. Retry in a moment.'
    // Why it does not is told once, by who asked it: here anybody could fill the log with stack traces.
    const cause = error instanceof ProviderUnavailable ? undefined : error
    return new AppError(50302, message, { cause, details: { outcome: 'none' } })
  }
  if (error instanceof errors.JWTClaimValidationFailed) return invalidToken(aboutClaim(error, audience))
  if (error instanceof errors.JOSEAlgNotAllowed) {
    return invalidToken(`The token is not signed with one of ${ALGORITHMS.join(', ')}.`)
  }
  if (error instanceof errors.JWKSNoMatchingKey) {
    return invalidToken('The token is signed with a key that the OpenID provider does not publish.')
  }
  if (error instanceof UnusableKey) {
    return invalidToken(
      'The token is signed with a key of the OpenID provider that cannot be used: it is too weak, or damaged.',
    )
  }
  if (error instanceof errors.JWSSignatureVerificationFailed) {
    return invalidToken('The signature of the token is wrong.')
  }
  return error instanceof errors.JOSEError ? invalidToken('The token is no sound JWT.') : error
}

/** Whether the set of keys is at fault, and not the token. */
function isOfKeys(error: unknown): boolean {
  return error instanceof errors.JWKSInvalid || error instanceof errors.JWKSTimeout
}

function aboutClaim({ claim, reason }: errors.JWTClaimValidationFailed, audience: string): string {
  if (reason === 'missing') return `The token lacks the claim ${claim}.`
  if (claim === 'aud') return `The token is for another audience (aud) than ${audience}.`
  if (claim === 'nbf' && reason === 'check_failed') return 'The token is not valid yet (nbf).'
  return `The claim ${claim} of the token is wrong.`
}
