import type { Logger } from 'pino'
import { createLogThrottle } from '../log-throttle.ts'
import type { StoredToken } from './token.ts'

/** Enough to see who tries what; whoever tries tokens by the thousand does not fill the disk. */
const REFUSALS_A_SECOND_MAX = 10

export type TokenEvent = 'created' | 'rotated' | 'revoked'

/** Who did something to a token: a request, with the token that it was sent with, or somebody on the machine. */
export type AuditActor =
  | { callerId: string; callerLabel?: string; requestId: string; clientAddress: string }
  | { by: 'first start' }
  | { by: 'command line'; userId: number | undefined }

/** A token that was refused; `tokenId` where it is known, but lacks a scope. */
export interface RejectedToken {
  error: number
  reason: string
  tokenId?: string
  requestId: string
  clientAddress: string
}

/** Notes in the log what became of tokens: a line each, marked `audit`, that never holds a token itself. */
export interface TokenAudit {
  /** At the level info. Of a token that was revoked nothing but its id is known. */
  note(event: TokenEvent, token: Pick<StoredToken, 'id'> & Partial<StoredToken>, actor: AuditActor): void
  /** At the level warn; beyond ten a second they are only counted, and the count is told when a second is over. */
  noteRefused(refused: RejectedToken): void
  /** Tells what is counted and not yet told. */
  stop(): void
}

export function createTokenAudit(log: Logger): TokenAudit {
  const refusal = { audit: true, event: 'token.refused' }
  const refusals = createLogThrottle<'refused'>(REFUSALS_A_SECOND_MAX, (counts) =>
    log.warn({ ...refusal, leftOut: counts.get('refused') }, 'more tokens refused'),
  )

  return {
    note(event, { id, label, scopes, expiresAtMs }, actor) {
      const line = {
        audit: true,
        event: `token.${event}`,
        tokenId: id,
        // A label is anybody's text, and may be a token by mistake.
        ...(label !== undefined && { label: label.replace(/plst_\w+/g, 'plst_***') }),
        ...(scopes !== undefined && { scopes }),
        ...(expiresAtMs !== undefined && { expiresAt: new Date(expiresAtMs).toISOString() }),
        ...actor,
      }
      log.info(line, `token ${event}`)
    },
    noteRefused(refused) {
      if (refusals.hasLine('refused')) log.warn({ ...refusal, ...refused }, 'token refused')
    },
    stop: refusals.stop,
  }
}
