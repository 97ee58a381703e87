import type { IncomingMessage } from 'node:http'
import type { FastifyRequest } from 'fastify'
import type { AppError } from '../../errors.ts'
import { PROVIDER_ID_PREFIX, type StoredToken } from '../token.ts'
import type { TokenAudit, TokenEvent } from '../token-audit.ts'

/** Logs what a request did to a token. */
export type LogToken = (
  event: TokenEvent,
  token: Pick<StoredToken, 'id'> & Partial<StoredToken>,
  request: FastifyRequest,
) => void

/** Logs that a request was rejected for its token (40102, 40301). */
export type LogRejection = (request: FastifyRequest, error: AppError) => void

export interface RequestAuditOptions {
  audit: TokenAudit
  clientAddress(request: IncomingMessage): string
}

/** The audit of what requests do to tokens, and of rejected tokens. */
export function createRequestAudit({ audit, clientAddress }: RequestAuditOptions): {
  logToken: LogToken
  logRejection: LogRejection
} {
  function logRejection(request: FastifyRequest, error: AppError): void {
    audit.logRejection({
      error: error.code,
      reason: error.message,
      // A valid token without the scope.
      ...(error.code === 40301 && { tokenId: request.caller.id }),
      requestId: request.id,
      clientAddress: clientAddress(request.raw),
    })
  }

  return {
    logRejection,
    logToken(event, token, request) {
      const { id, label } = request.caller
      audit.logChange(event, token, {
        callerId: id,
        // The id of a JWT is in no list of tokens.
        ...(id.startsWith(PROVIDER_ID_PREFIX) && { callerLabel: label }),
        requestId: request.id,
        clientAddress: clientAddress(request.raw),
      })
    },
  }
}
