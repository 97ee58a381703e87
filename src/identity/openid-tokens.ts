import {
  decodeJwt,
  errors,
  type JWTPayload,
  type JWTVerifyGetKey,
  type JWTVerifyOptions,
  type JWTVerifyResult,
  jwtVerify,
} from 'jose'
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
import { ALGORITHMS, jwtError, UnusableKey } from './jwt-error.ts'
import {
  createProviderKeys,
  KEYS_AGE_MAX_MS,
  type ProviderKeys,
  type ProviderKeysOptions,
  ProviderUnavailable,
} from './provider-keys.ts'

/** The maximum difference between the clocks of provider and service. */
const LEEWAY_MS = 30_000

/** Verified tokens that are cached for an outage of the provider; beyond it the oldest is dropped. */
const VERIFIED_TOKENS_MAX = 1_000

/** The header's `typ`, where there is one (RFC 9068 §2.1; older providers write JWT). */
const ACCESS_TOKEN_TYPE = /^(?:(?:application\/)?at\+jwt|(?:application\/)?jwt)$/i

/** Claims of ID tokens (OpenID Connect Core §3.3.2.11), which are for the client and grant nothing. */
const ID_TOKEN_CLAIMS = ['at_hash', 'c_hash']

export interface OpenIdTokensOptions extends ProviderKeysOptions {
  /** The provider's name of this service: the claim `aud`. */
  audience: string
  /** The claim that holds the scopes of a token. `scopes` maps its values to scopes of this service. */
  scopeClaim: string
  scopes: ScopeMapping
}

/** Verifies access tokens of an OpenID provider, as `JwtVerifier` promises. */
export function createOpenIdTokens(options: OpenIdTokensOptions): JwtVerifier {
  const { issuer, audience, scopeClaim, scopes } = options
  const keys = createProviderKeys(options)
  const verified = new Map<string, StoredToken>()
  /** Time of the last failed request for keys, by `performance.now()`. */
  let failedMs = Number.NEGATIVE_INFINITY
  const rules: JWTVerifyOptions = {
    issuer,
    audience,
    algorithms: ALGORITHMS,
    clockTolerance: LEEWAY_MS / 1000,
    requiredClaims: ['exp', 'sub'],
  }

  async function verify(text: string): Promise<StoredToken> {
    // Before any key is requested: a token of another issuer must cause no request to the provider.
    if (decodeJwt(text).iss !== issuer) throw invalidToken('The token is from another issuer (iss).')
    try {
      const { payload, protectedHeader } = await verifySignature(text, keys, rules)
      checkKind(payload, protectedHeader.typ)
      return callerOf(payload, grantedScopes(payload, scopeClaim, scopes))
    } catch (error) {
      // Everything else is valid. Like an expired token of the store it is no guess: it is rejected as expired.
      if (error instanceof errors.JWTExpired) return callerOf(error.payload, [])
      throw error
    }
  }

  /** A verified token while the provider does not respond; undefined if the token must be verified. */
  async function cachedToken(hash: string): Promise<StoredToken | undefined> {
    const token = verified.get(hash)
    if (token === undefined || keys.fresh) return undefined
    if (isExpired(token, Date.now())) {
      verified.delete(hash)
      return undefined
    }
    const reloaded = keys.reload().then(
      () => undefined,
      () => {
        failedMs = performance.now()
        return token
      },
    )
    // No request waits for a provider that failed lately; withdrawn keys are trusted that much longer.
    return performance.now() - failedMs < KEYS_AGE_MAX_MS ? token : reloaded
  }

  // Before the first token, so that a wrong issuer is logged at the start.
  keys.reload().catch(() => {})

  return async (text) => {
    const hash = hashToken(text)
    const known = await cachedToken(hash)
    if (known !== undefined) return known
    try {
      const token = await verify(text)
      if (isExpired(token, Date.now())) return token
      verified.delete(hash)
      if (verified.size >= VERIFIED_TOKENS_MAX) verified.delete(verified.keys().next().value ?? '')
      verified.set(hash, token)
      return token
    } catch (error) {
      throw jwtError(error, audience)
    }
  }
}

/** Verifies with the key that the token names. If it names none, tries each key that fits. */
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
    // The provider may have replaced a key under the same name, or without a name.
    await keys.reload()
    return verifyWith(text, keys, rules)
  }
}

/** Like `jwtVerify`, but throws UnusableKey for a key that is invalid or too weak (RFC 7518 §3.3). */
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

/** Rejects tokens that are not access tokens, and those that are bound to a key. */
function checkKind(payload: JWTPayload, type: string | undefined): void {
  // Keycloak also has the kind of a token in the claim `typ`.
  const isIdToken = payload.typ === 'ID' || ID_TOKEN_CLAIMS.some((claim) => Object.hasOwn(payload, claim))
  if (isIdToken || (type !== undefined && !ACCESS_TOKEN_TYPE.test(type))) {
    throw invalidToken('The token is not an access token. An ID token is for the client only.')
  }
  if (Object.hasOwn(payload, 'cnf')) {
    throw invalidToken(
      'The token is bound to a key of its client (cnf), so it cannot be used as a bearer token.',
    )
  }
}

function callerOf({ iss, sub, exp = 0, iat }: JWTPayload, scopes: StoredToken['scopes']): StoredToken {
  if (typeof sub !== 'string' || sub === '') throw invalidToken('The token has no subject (sub).')
  return {
    // From issuer and subject, so that idempotency keys outlive a token that is renewed every few minutes.
    id: PROVIDER_ID_PREFIX + hashToken(JSON.stringify([iss, sub])).slice(0, 32),
    label: labelOf(sub),
    scopes,
    createdAtMs: timeMs(iat ?? Date.now() / 1000),
    expiresAtMs: timeMs(exp + LEEWAY_MS / 1000),
  }
}

/** A subject as one line of text; providers allow any characters in it. */
function labelOf(subject: string): string {
  return [...subject].slice(0, LABEL_CHARACTERS_MAX).join('').replace(UNFIT_FOR_A_LINE, '\ufffd')
}

/** A time of a token in milliseconds, clamped to the range of RFC 3339. */
function timeMs(seconds: number): number {
  return Math.floor(Math.min(Math.max(seconds * 1000, 0), TIME_MS_MAX))
}
