import type { Logger } from 'pino'
import { createLogThrottle } from '../log-throttle.ts'
import type { StoredToken } from './token.ts'

/** Enough to see who tries tokens, and few enough that thousands of attempts do not fill the disk. */
const REJECTIONS_A_SECOND_MAX = 10

export type TokenEvent = 'created' | 'rotated' | 'revoked'

/** Who changed a token: the caller of a request, or somebody on the machine. */
type AuditActor =
  | { callerId: string; callerLabel?: string; requestId: string; clientAddress: string }
  | { by: 'first start' }
  | { by: 'command line'; userId: number | undefined }

/** A rejected token; `tokenId` only if the token is valid and lacks a scope. */
interface RejectedToken {
  error: number
  reason: string
  tokenId?: string
  requestId: string
  clientAddress: string
}

/** Logs changes and rejections of tokens: a line each, marked `audit`, without the secret. */
export interface TokenAudit {
  /** Logs a change, at the level info. Of a revoked token only the id is known. */
  logChange(event: TokenEvent, token: Pick<StoredToken, 'id'> & Partial<StoredToken>, actor: AuditActor): void
  /** Logs a rejection, at the level warn. Beyond ten a second rejections are counted, and the count is logged. */
  logRejection(rejected: RejectedToken): void
  /** Logs the count of the rejections without a line of their own. */
  stop(): void
}

export function createTokenAudit(log: Logger): TokenAudit {
  const rejection = { audit: true, event: 'token.rejected' }
  const rejections = createLogThrottle<'rejected'>(REJECTIONS_A_SECOND_MAX, (counts) =>
    log.warn({ ...rejection, suppressed: counts.get('rejected') }, 'more tokens rejected'),
  )

  return {
    logChange(event, { id, label, scopes, expiresAtMs }, actor) {
      const line = {
        audit: true,
        event: `token.${event}`,
        tokenId: id,
        // Somebody may have used a token as a label by mistake.
        ...(label !== undefined && { label: label.replace(/plst_\w+/g, 'plst_***') }),
        ...(scopes !== undefined && { scopes }),
        ...(expiresAtMs !== undefined && { expiresAt: new Date(expiresAtMs).toISOString() }),
        ...actor,
      }
      log.info(line, `token ${event}`)
    },
    logRejection(rejected) {
      if (rejections.hasLine('rejected')) log.warn({ ...rejection, ...rejected }, 'token rejected')
    },
    stop: rejections.stop,
  }
}
