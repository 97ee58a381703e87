import type { IncomingMessage } from 'node:http'
import type { FastifyRequest } from 'fastify'
import { AppError } from '../../errors.ts'
import { PROVIDER_ID_PREFIX, type StoredToken } from '../token.ts'
import type { TokenAudit, TokenEvent } from '../token-audit.ts'
import type { Authenticator } from './authenticate.ts'

/** Notes what a request did to a token. */
export type LogToken = (
  event: TokenEvent,
  token: Pick<StoredToken, 'id'> & Partial<StoredToken>,
  request: FastifyRequest,
) => void

/** Notes that a request was refused for its token (40102, 40301); of any other error it notes nothing. */
export type LogRejection = (request: FastifyRequest, error: Error | undefined) => void

export interface RequestAuditOptions {
  audit: TokenAudit
  clientAddress(request: IncomingMessage): string
}

/** The audit of what requests do to tokens, and of those they are refused with. */
export function createRequestAudit({ audit, clientAddress }: RequestAuditOptions): {
  logToken: LogToken
  logRejection: LogRejection
  /** The same authenticator, whose refusals of a token are noted. One without any token is none. */
  audited(authenticate: Authenticator): Authenticator
} {
  function logRejection(request: FastifyRequest, error: Error | undefined): void {
    if (!(error instanceof AppError) || (error.code !== 40102 && error.code !== 40301)) return
    audit.noteRefused({
      error: error.code,
      reason: error.message,
      // Who is let in, but not as far as this.
      ...(error.code === 40301 && { tokenId: request.caller.id }),
      requestId: request.id,
      clientAddress: clientAddress(request.raw),
    })
  }

  const noting = (request: FastifyRequest, done: (error?: Error) => void) => (error?: Error) => {
    logRejection(request, error)
    done(error)
  }

  return {
    logRejection,
    logToken(event, token, request) {
      const { id, label } = request.caller
      audit.note(event, token, {
        callerId: id,
        // No list tells whose such an id is.
        ...(id.startsWith(PROVIDER_ID_PREFIX) && { callerLabel: label }),
        requestId: request.id,
        clientAddress: clientAddress(request.raw),
      })
    },
    audited: (authenticate) =>
      Object.assign(
        (...[request, scope, done]: Parameters<Authenticator>) =>
          authenticate(request, scope, noting(request, done)),
        {
          recheckToken: (...[request, done]: Parameters<Authenticator['recheckToken']>) =>
            authenticate.recheckToken(request, noting(request, done)),
          forget: authenticate.forget,
        },
      ),
  }
}
