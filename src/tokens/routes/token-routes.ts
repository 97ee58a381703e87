import type { FastifyInstance } from 'fastify'
import { AppError } from '../../errors.ts'
import { queryOf } from '../../http/request/query.ts'
import type { BodyReader } from '../../http/request/read-body.ts'
import { sendEmpty, sendJson } from '../../http/response/responses.ts'
import type { Authenticator } from '../access/authenticate.ts'
import type { LogToken } from '../access/request-audit.ts'
import { issueToken } from '../issue-token.ts'
import { parseNewToken } from '../new-token.ts'
import { tokenResponse } from '../token.ts'
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

/** A caller with `tokens:manage` may create tokens with any scope: such a caller is an administrator. */
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
      const wanted = parseNewToken(await body.readJson(request, reply), tokens.nowMs())
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
