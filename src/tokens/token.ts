import { hash, randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'
import type { XStatic } from 'typebox/schema'

export const SCOPES = ['plants:read', 'plants:write', 'tokens:manage', 'metrics:read'] as const
/** The id of the fixed token, which is in no store. */
export const FIXED_TOKEN_ID = 'configured'

export type Scope = (typeof SCOPES)[number]

/** The prefix of the ids of callers with a JWT; no store has such an id. */
export const PROVIDER_ID_PREFIX = 'oidc:'

const TOKEN_PREFIX = 'plst_'
const SECRET_BYTES = 32
/** 32 bytes have at most 43 digits in base62, and their CRC-32 at most 6. */
const SECRET_DIGITS = 43
const CHECKSUM_DIGITS = 6
const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** Limit of a label, in characters of Unicode, as JSON Schema counts them. */
export const LABEL_CHARACTERS_MAX = 200

/** Control characters, line breaks, and characters that change the direction of text. For `search` and `replace`. */
export const UNFIT_FOR_A_LINE = /[\p{Cc}\p{Cs}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu

/** The last time that RFC 3339 can express. */
export const TIME_MS_MAX = Date.parse('9999-12-31T23:59:59.999Z')

/** A token in responses, without its secret. */
export const TokenSchema = {
  type: 'object',
  required: ['id', 'label', 'scopes', 'createdAt'],
  properties: {
    id: { type: 'string', description: 'The id of the token in the API. It is not a secret.' },
    label: { type: 'string', description: 'What the token is for' },
    scopes: { type: 'array', items: { type: 'string', enum: SCOPES } },
    createdAt: { type: 'string', format: 'date-time' },
    expiresAt: { type: 'string', format: 'date-time', description: 'Absent if the token does not expire' },
    lastUsedAt: {
      type: 'string',
      format: 'date-time',
      description: 'To the minute. Absent if the token was never used.',
    },
  },
} as const

export const NewTokenSchema = {
  type: 'object',
  additionalProperties: false,
  required: ['scopes'],
  properties: {
    label: { type: 'string', maxLength: LABEL_CHARACTERS_MAX, description: 'What the token is for' },
    scopes: { type: 'array', minItems: 1, items: { type: 'string', enum: SCOPES } },
    expiresAt: {
      type: 'string',
      format: 'date-time',
      description: 'RFC 3339, in the future. Without it the token does not expire.',
    },
  },
} as const

export const CreatedTokenSchema = {
  ...TokenSchema,
  required: [...TokenSchema.required, 'token'],
  properties: {
    ...TokenSchema.properties,
    token: {
      type: 'string',
      description: 'The bearer token, returned only once. The service stores only its hash.',
    },
  },
} as const

/** The default grace period: time to distribute the new secret. */
export const GRACE_SECONDS_DEFAULT = 86_400

/** The longest grace period: beyond it a rotation would not protect against a leaked secret. */
export const GRACE_SECONDS_MAX = 30 * 86_400

export const TokenRotationSchema = {
  type: 'object',
  additionalProperties: false,
  properties: {
    graceSeconds: {
      type: 'integer',
      minimum: 0,
      maximum: GRACE_SECONDS_MAX,
      default: GRACE_SECONDS_DEFAULT,
      description: 'The grace period: how long the old secret stays valid. 0 ends it at once.',
    },
  },
} as const

export type TokenResponse = XStatic<typeof TokenSchema>

/** A token as it is stored. Times in milliseconds since 1970. */
export interface StoredToken {
  id: string
  label: string
  scopes: readonly Scope[]
  createdAtMs: number
  expiresAtMs?: number
  lastUsedAtMs?: number
  /** Whether the token was found by an old secret, in its grace period. */
  isReplaced?: true
}

/** A token as responses contain it, without secrets. */
export function tokenResponse(token: StoredToken): TokenResponse {
  const { id, label, scopes, createdAtMs, expiresAtMs, lastUsedAtMs } = token
  return {
    id,
    label,
    scopes: [...scopes],
    createdAt: new Date(createdAtMs).toISOString(),
    ...(expiresAtMs !== undefined && { expiresAt: new Date(expiresAtMs).toISOString() }),
    ...(lastUsedAtMs !== undefined && { lastUsedAt: new Date(lastUsedAtMs).toISOString() }),
  }
}

export interface NewToken {
  label: string
  scopes: readonly Scope[]
  expiresAtMs?: number
}

/** Generates a random token, with a checksum by which programs detect typos and leaked secrets. */
export function generateToken(): string {
  const secret = base62(BigInt(`0x${randomBytes(SECRET_BYTES).toString('hex')}`), SECRET_DIGITS)
  return TOKEN_PREFIX + secret + checksumOf(secret)
}

/** Whether `text` has the form and checksum of a generated token. The store may not have it. */
export function isWellFormedToken(text: string): boolean {
  const secret = text.slice(TOKEN_PREFIX.length, -CHECKSUM_DIGITS)
  return (
    text.length === TOKEN_PREFIX.length + SECRET_DIGITS + CHECKSUM_DIGITS &&
    text.startsWith(TOKEN_PREFIX) &&
    text.endsWith(checksumOf(secret))
  )
}

/** The stored hash of a token. 256 random bits cannot be guessed, so it needs no salt and no stretching. */
export function hashToken(token: string): string {
  return hash('sha256', token, 'hex')
}

/** Generates the id of a token: short enough to type, long enough not to collide. */
export function generateTokenId(): string {
  return base62(BigInt(`0x${randomBytes(8).toString('hex')}`), 11)
}

export function isScope(text: unknown): text is Scope {
  return SCOPES.includes(text as Scope)
}

export function isExpired(token: StoredToken, nowMs: number): boolean {
  return token.expiresAtMs !== undefined && token.expiresAtMs <= nowMs
}

function checksumOf(secret: string): string {
  return base62(BigInt(crc32(secret)), CHECKSUM_DIGITS)
}

function base62(value: bigint, digits: number): string {
  let text = ''
  for (let rest = value; rest > 0n; rest /= 62n) text = BASE62.charAt(Number(rest % 62n)) + text
  return text.padStart(digits, '0')
}
