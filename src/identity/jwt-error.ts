import { errors } from 'jose'
import { AppError } from '../errors.ts'
import { invalidToken } from '../tokens/access/bearer-token.ts'
import { ProviderUnavailable } from './provider-keys.ts'

/** Asymmetric only: with HS256 the published key would be the secret (RFC 8725 §2.1). */
export const ALGORITHMS = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
]

/** The provider publishes a key that cannot be used; the cause has the reason. */
export class UnusableKey extends Error {
  override readonly name = 'UnusableKey'
}

/** Maps a failed verification to 40102, if the token is at fault, or 50302, if the provider is. */
export function jwtError(error: unknown, audience: string): unknown {
  if (error instanceof AppError) return error
  if (error instanceof ProviderUnavailable || isKeySetError(error)) {
    const message =
      'The OpenID provider does not respond, so the token cannot be verified. Retry in a moment.'
    // provider-keys.ts logs the reason once: here any client could fill the log with stack traces.
    const cause = error instanceof ProviderUnavailable ? undefined : error
    return new AppError(50302, message, { cause, details: { outcome: 'none' } })
  }
  if (error instanceof errors.JWTClaimValidationFailed) return invalidToken(claimMessage(error, audience))
  if (error instanceof errors.JOSEAlgNotAllowed) {
    return invalidToken(`The token is not signed with one of ${ALGORITHMS.join(', ')}.`)
  }
  if (error instanceof errors.JWKSNoMatchingKey) {
    return invalidToken('The token is signed with a key that the OpenID provider does not publish.')
  }
  if (error instanceof UnusableKey) {
    return invalidToken('The token is signed with a key of the OpenID provider that is too weak or damaged.')
  }
  if (error instanceof errors.JWSSignatureVerificationFailed) {
    return invalidToken('The signature of the token is wrong.')
  }
  return error instanceof errors.JOSEError ? invalidToken('The token is not a valid JWT.') : error
}

/** True if the provider's set of keys is at fault, not the token. */
function isKeySetError(error: unknown): boolean {
  return error instanceof errors.JWKSInvalid || error instanceof errors.JWKSTimeout
}

function claimMessage({ claim, reason }: errors.JWTClaimValidationFailed, audience: string): string {
  if (reason === 'missing') return `The token lacks the claim ${claim}.`
  if (claim === 'aud') return `The token is for another audience (aud) than ${audience}.`
  if (claim === 'nbf' && reason === 'check_failed') return 'The token is not valid yet (nbf).'
  return `The claim ${claim} of the token is wrong.`
}
