import { AppError } from '../../errors.ts'
import type { Scope } from '../token.ts'

/** RFC 9110 §11.4: the scheme in any case, then spaces. RFC 6750 §2.1 has one space. */
const SPACES_MAX = 8
const BEARER = new RegExp(`^bearer(?: {1,${SPACES_MAX}}(?! )(.*)| .*)?$`, 'i')
/** The token68 of RFC 6750 §2.1. */
const TOKEN_TEXT = /^[A-Za-z0-9\-._~+/]+=*$/
/** Three parts (RFC 7515 §7.1), the last one empty without a signature. No token of a store has a dot. */
const JWT = /^[A-Za-z0-9\-_]+\.[A-Za-z0-9\-_]+\.[A-Za-z0-9\-_]*$/

const CHALLENGE = 'Bearer realm="plantstore"'

/** The text after the scheme, in any spelling of that, without validation. Undefined if there is none. */
export function bearerTextOf(field: string): string | undefined {
  return BEARER.exec(field)?.[1]
}

/**
 * The token in an Authorization field. Two fields arrive joined by a comma, which no token contains. Throws 40101 if
 * there is no token, 40102 if it is malformed.
 */
export function parseBearerToken(field: string | undefined): string {
  const bearer = BEARER.exec(field ?? '')
  if (bearer === null) {
    throw new AppError(40101, 'Send a token: Authorization: Bearer <token>.', {
      headers: { 'www-authenticate': CHALLENGE },
    })
  }
  const [whole, text = ''] = bearer
  if (/^bearer *$/i.test(whole)) {
    throw invalidToken('There is no token after Bearer. Check the variable that contains it.')
  }
  if (!TOKEN_TEXT.test(text)) throw invalidToken('The Authorization field must be Bearer and a token.')
  return text
}

export function isJwt(token: string): boolean {
  return JWT.test(token)
}

/** 40102, with its challenge (RFC 6750 §3.1). */
export function invalidToken(message: string): AppError {
  return new AppError(40102, message, {
    headers: { 'www-authenticate': `${CHALLENGE}, error="invalid_token"` },
  })
}

/** 40301, with its challenge: the caller lacks the scope. */
export function insufficientScope(
  scope: Scope,
  message = `This operation requires a token with the scope ${scope}.`,
): AppError {
  return new AppError(40301, message, {
    headers: { 'www-authenticate': `${CHALLENGE}, error="insufficient_scope", scope="${scope}"` },
  })
}
