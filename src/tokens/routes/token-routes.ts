import type { FastifyInstance } from 'fastify'
import { AppError, type FieldProblem, invalidFields } from '../../errors.ts'
import { queryOf } from '../../http/request/query.ts'
import type { BodyReader } from '../../http/request/read-body.ts'
import { sendEmpty, sendJson } from '../../http/response/responses.ts'
import type { Authenticator } from '../access/authenticate.ts'
import type { LogToken } from '../access/request-audit.ts'
import {
  generateToken,
  generateTokenId,
  hashToken,
  isScope,
  LABEL_CHARACTERS_MAX,
  type NewToken,
  SCOPES,
  type StoredToken,
  TIME_MS_MAX,
  type TokenResponse,
  UNFIT_FOR_A_LINE,
} from '../token.ts'
import type { TokenStore } from '../token-store.ts'
import {
  createTokenOperation,
  getOwnTokenOperation,
  listTokensOperation,
  revokeTokenOperation,
} from './token-operations.ts'

export interface TokenRoutesOptions {
  tokens: TokenStore
  body: BodyReader
  authenticate: Authenticator
  logToken: LogToken
}

const SCOPES_ADVICE = `Name one or more of ${SCOPES.join(', ')}.`

/** Whoever may manage tokens may give any scope, their own or not: such a token is an administrator's. */
export function registerTokenRoutes(
  app: FastifyInstance,
  { tokens, body, authenticate, logToken }: TokenRoutesOptions,
): void {
  app.route({
    method: 'GET',
    url: '/tokens',
    config: { scope: 'tokens:manage', operation: listTokensOperation },
    async handler(request, reply) {
      queryOf(request, [])
      sendJson(reply, 200, JSON.stringify((await tokens.list()).map(tokenResponse)))
    },
  })

  app.route({
    method: 'POST',
    url: '/tokens',
    config: { scope: 'tokens:manage', operation: createTokenOperation },
    async handler(request, reply) {
      queryOf(request, [])
      const wanted = parseNewToken(await body.readJson(request, reply), Date.now())
      const { token, stored } = await issueToken(tokens, wanted)
      logToken('created', stored, request)
      sendJson(reply, 201, JSON.stringify({ ...tokenResponse(stored), token }))
    },
  })

  app.route({
    method: 'GET',
    url: '/tokens/self',
    config: { scope: 'any', operation: getOwnTokenOperation },
    async handler(request, reply) {
      queryOf(request, [])
      sendJson(reply, 200, JSON.stringify(tokenResponse(request.caller)))
    },
  })

  app.route<{ Params: { id: string } }>({
    method: 'DELETE',
    url: '/tokens/:id',
    config: { scope: 'tokens:manage', operation: revokeTokenOperation },
    async handler(request, reply) {
      queryOf(request, [])
      if (!(await tokens.revoke(request.params.id))) throw new AppError(40403)
      authenticate.forget(request.params.id)
      logToken('revoked', { id: request.params.id }, request)
      sendEmpty(reply, 204)
    },
  })
}

/** A new token, and what is stored of it. */
export interface IssuedToken {
  token: string
  stored: StoredToken
}

/** Makes a token and stores its hash; the token itself is in the result and nowhere else. */
export async function issueToken(tokens: TokenStore, wanted: NewToken): Promise<IssuedToken> {
  const made = makeToken(wanted)
  await tokens.create(made.stored, hashToken(made.token))
  return made
}

/** Makes a token for a store that has none; undefined where there is one, another replica's maybe. */
export async function issueFirstToken(
  tokens: TokenStore,
  wanted: NewToken,
): Promise<IssuedToken | undefined> {
  const made = makeToken(wanted)
  return (await tokens.createFirst(made.stored, hashToken(made.token))) ? made : undefined
}

function makeToken(wanted: NewToken): IssuedToken {
  return { token: generateToken(), stored: { id: generateTokenId(), ...wanted, createdAtMs: Date.now() } }
}

/** Reads a new token. Throws 40003 with every field that is missing or invalid. */
export function parseNewToken(body: unknown, nowMs: number): NewToken {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw invalidFields([{ name: '', rule: 'object', message: 'The body must be a JSON object.' }])
  }
  const { label = '', scopes, expiresAt } = body as { label?: unknown; scopes?: unknown; expiresAt?: unknown }
  const expiresAtMs = parseTime(expiresAt)
  const problems = [
    labelProblem(label),
    scopesProblem(scopes),
    expiresAt === undefined ? undefined : expiryProblem(expiresAtMs, nowMs),
  ].filter((problem) => problem !== undefined)
  if (problems.length > 0) throw invalidFields(problems)
  const wanted: NewToken = { label: label as string, scopes: [...new Set(scopes as NewToken['scopes'])] }
  return expiresAtMs === undefined ? wanted : { ...wanted, expiresAtMs }
}

function labelProblem(label: unknown): FieldProblem | undefined {
  const name = 'label'
  if (typeof label !== 'string') return { name, rule: 'string', message: 'label must be a string.' }
  if ([...label].length > LABEL_CHARACTERS_MAX) {
    return {
      name,
      rule: 'max-length',
      message: `label must have at most ${LABEL_CHARACTERS_MAX} characters.`,
    }
  }
  if (label.search(UNFIT_FOR_A_LINE) < 0) return undefined
  return { name, rule: 'single-line', message: 'label must be a single line without control characters.' }
}

function scopesProblem(scopes: unknown): FieldProblem | undefined {
  const name = 'scopes'
  if (scopes === undefined) return { name, rule: 'required', message: `scopes is required. ${SCOPES_ADVICE}` }
  if (!Array.isArray(scopes))
    return { name, rule: 'array', message: `scopes must be an array. ${SCOPES_ADVICE}` }
  if (scopes.length === 0) return { name, rule: 'min-items', message: `scopes is empty. ${SCOPES_ADVICE}` }
  if (scopes.every(isScope)) return undefined
  return { name, rule: 'one-of', message: `scopes has an unknown scope. ${SCOPES_ADVICE}` }
}

function expiryProblem(timeMs: number | undefined, nowMs: number): FieldProblem | undefined {
  const name = 'expiresAt'
  if (timeMs === undefined) {
    const message = 'expiresAt must be a time as RFC 3339 writes it, such as 2030-01-31T12:00:00Z.'
    return { name, rule: 'date-time', message }
  }
  return timeMs > nowMs ? undefined : { name, rule: 'future', message: 'expiresAt must be in the future.' }
}

function parseTime(text: unknown): number | undefined {
  if (typeof text !== 'string') return undefined
  const date = /^(\d{4}-\d\d-\d\d)T(?:[01]\d|2[0-3]):\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/i.exec(text)?.[1]
  // Date.parse takes the 30th of February for the 2nd of March.
  if (date === undefined || !isDate(date)) return undefined
  const timeMs = Date.parse(text)
  return Number.isNaN(timeMs) || timeMs > TIME_MS_MAX ? undefined : timeMs
}

function isDate(text: string): boolean {
  const timeMs = Date.parse(text)
  return !Number.isNaN(timeMs) && new Date(timeMs).toISOString().startsWith(text)
}

/** What is told of a token: nothing that is secret. */
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
