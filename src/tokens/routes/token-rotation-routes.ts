import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { AppError, type FieldRule, invalidFields, invalidParameter } from '../../errors.ts'
import { queryOf } from '../../http/request/query.ts'
import { hasBody } from '../../http/request/read-body.ts'
import { sendJson } from '../../http/response/responses.ts'
import { insufficientScope } from '../access/bearer-token.ts'
import type { LogRejection } from '../access/request-audit.ts'
import { rotateToken } from '../issue-token.ts'
import {
  FIXED_TOKEN_ID,
  GRACE_SECONDS_DEFAULT,
  GRACE_SECONDS_MAX,
  type StoredToken,
  TokenRotationSchema,
  tokenResponse,
} from '../token.ts'
import { unknownMembers } from '../unknown-members.ts'
import { rotateOwnTokenOperation, rotateTokenOperation } from './token-operations.ts'
import type { TokenRoutesOptions } from './token-routes.ts'

/** Routes that give tokens new secrets: a caller with `tokens:manage` for any token, and each caller for its own. */
export function registerTokenRotationRoutes(
  app: FastifyInstance,
  { tokens, body, authenticate, logToken, logRejection }: TokenRoutesOptions & { logRejection: LogRejection },
): void {
  async function readGraceSeconds(request: FastifyRequest, reply: FastifyReply): Promise<number> {
    return parseGraceSeconds(hasBody(request.raw) ? await body.readJson(request, reply) : {})
  }

  async function rotate(
    request: FastifyRequest,
    reply: FastifyReply,
    id: string,
    graceSeconds: number,
  ): Promise<void> {
    const rotated = await rotateToken(tokens, id, graceSeconds)
    if (rotated === 'absent') throw noSuchToken(id, request.caller)
    if (rotated === 'expired') {
      throw invalidParameter(
        'id',
        'The token has expired, and rotating it would not renew it. Create another token.',
      )
    }
    authenticate.forget(id)
    logToken('rotated', rotated.stored, request)
    sendJson(reply, 200, JSON.stringify({ ...tokenResponse(rotated.stored), token: rotated.token }))
  }

  app.route<{ Params: { id: string } }>({
    method: 'POST',
    url: '/tokens/:id/rotate',
    config: { scope: 'tokens:manage', operation: rotateTokenOperation },
    async handler(request, reply) {
      queryOf(request, [])
      await rotate(request, reply, request.params.id, await readGraceSeconds(request, reply))
    },
  })

  app.route({
    method: 'POST',
    url: '/tokens/self/rotate',
    config: { scope: 'any', operation: rotateOwnTokenOperation },
    async handler(request, reply) {
      queryOf(request, [])
      const graceSeconds = await readGraceSeconds(request, reply)
      // After the body has arrived: the token may have been rotated meanwhile.
      const { id, isReplaced = false, scopes } = request.caller
      // Otherwise somebody with a leaked old secret could renew it and lock out the owner.
      if (isReplaced && !scopes.includes('tokens:manage')) {
        const rejection = insufficientScope(
          'tokens:manage',
          'This secret was replaced. Rotate with the new one, or use a token with the scope tokens:manage.',
        )
        // The old secret may have leaked.
        logRejection(request, rejection)
        throw rejection
      }
      await rotate(request, reply, id, graceSeconds)
    },
  })
}

function parseGraceSeconds(body: unknown): number {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw invalidFields([{ name: '', rule: 'object', message: 'The body must be a JSON object or empty.' }])
  }
  const { graceSeconds = BigInt(GRACE_SECONDS_DEFAULT) } = body as { graceSeconds?: unknown }
  const problems = unknownMembers(body, TokenRotationSchema)
  const rule = graceRule(graceSeconds)
  if (rule !== undefined) {
    const message = `graceSeconds must be a whole number from 0 to ${GRACE_SECONDS_MAX}.`
    problems.unshift({ name: 'graceSeconds', rule, message })
  }
  if (problems.length > 0) throw invalidFields(problems)
  return Number(graceSeconds)
}

/** The rule that a grace period violates. */
function graceRule(seconds: unknown): FieldRule | undefined {
  if (typeof seconds !== 'bigint') return 'integer'
  if (seconds < 0n) return 'min'
  return seconds > BigInt(GRACE_SECONDS_MAX) ? 'max' : undefined
}

/** 40403 for a token that is not in the store, with what the caller may know of it. */
function noSuchToken(id: string, caller: StoredToken): AppError {
  if (id === FIXED_TOKEN_ID) {
    const setting = 'PLANTSTORE_FIXED_TOKEN'
    const message = `The token of the setting ${setting} cannot be rotated. Change the setting.`
    return new AppError(40403, message, { details: { setting } })
  }
  if (id !== caller.id) return new AppError(40403)
  return new AppError(40403, 'The token in use is not in this store, so it cannot be rotated here.')
}
