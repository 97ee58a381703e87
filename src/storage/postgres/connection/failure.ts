import { AppError } from '../../../errors.ts'

/** The effect of a failure on the statement. */
type Failure =
  /** It conflicted with another transaction and can be retried. */
  | 'conflict'
  /** It reached no server that could have performed it. */
  | 'not-sent'
  /** The connection was lost: it may or may not have been performed. */
  | 'lost'
  /** Another session holds a lock for too long. */
  | 'locked'
  /** The disk of the server is full. */
  | 'full'
  /** The server rejected it and stored nothing. */
  | 'rejected'

/** By SQLSTATE (postgresql.org/docs/current/errcodes-appendix.html); any other is `rejected`. */
const SERVER_FAILURES: Readonly<Record<string, Failure>> = {
  '40001': 'conflict',
  '40P01': 'conflict',
  '55P03': 'locked',
  '53100': 'full',
  '53300': 'not-sent',
  '57P03': 'not-sent',
  '25006': 'not-sent',
  // A server that is stopped while it waits for a standby has committed, and still reports this.
  '57P01': 'lost',
  '57P02': 'lost',
  // An idle timeout, which the driver may report for the next statement.
  '25P03': 'lost',
  '57P05': 'lost',
  '08000': 'lost',
  '08003': 'lost',
  '08006': 'lost',
}

/** By code of the driver, the operating system or `connector.ts`; any other means a lost connection. */
const CONNECTION_FAILURES: Readonly<Record<string, Failure>> = {
  CONNECT_TIMEOUT: 'not-sent',
  ECONNREFUSED: 'not-sent',
  ENOTFOUND: 'not-sent',
  EAI_AGAIN: 'not-sent',
  ENOENT: 'not-sent',
  EHOSTUNREACH: 'not-sent',
  ENETUNREACH: 'not-sent',
  STANDBY: 'not-sent',
  TLS_UNAVAILABLE: 'not-sent',
}

/** Thrown inside a write to retry all of it: another replica has changed its rows. */
export class ConcurrentChange extends Error {
  override readonly name = 'ConcurrentChange'
}

/** 50302: another session holds a lock for too long, and nothing of the write was stored. */
export class LockedError extends AppError {
  /** `locked` is a noun phrase for the message, such as "this plant". */
  constructor(locked = 'data of this write', cause?: unknown) {
    super(
      50302,
      `Another session of the database has locked ${locked}, and nothing was stored. Retry in a moment.`,
      { cause, details: { outcome: 'none' } },
    )
  }
}

export function failureOf(error: unknown): Failure {
  if (error instanceof ConcurrentChange) return 'conflict'
  const code = codeOf(error)
  if (isServerError(error)) return SERVER_FAILURES[code] ?? 'rejected'
  return CONNECTION_FAILURES[code] ?? 'lost'
}

/** The SQLSTATE or the code of a failed connection; '' if there is none. */
export function codeOf(error: unknown): string {
  return String((error as { code?: unknown } | undefined)?.code ?? '')
}

/** A timeout, with a code of this module. */
export function timeoutError(code: 'CONNECT_TIMEOUT' | 'RESPONSE_TIMEOUT'): Error {
  return Object.assign(new Error('no response in time'), { code })
}

function isServerError(error: unknown): boolean {
  return (error as { name?: unknown } | undefined)?.name === 'PostgresError'
}

/** The failure of a read as the service sends it. The cause is for the log. */
export function readError(error: unknown): AppError {
  if (error instanceof AppError) return error
  return new AppError(50302, 'The database did not respond. Retry in a moment.', {
    cause: causeOf(error),
    details: { outcome: 'none' },
  })
}

/** The failure of a write as the service sends it. The cause is for the log. */
export function writeError(error: unknown): AppError {
  if (error instanceof AppError) return error
  const cause = causeOf(error)
  switch (failureOf(error)) {
    case 'locked':
      return new LockedError(undefined, cause)
    case 'full':
      return new AppError(50701, undefined, { cause, details: { outcome: 'none' } })
    case 'lost':
      return new AppError(
        50302,
        'The connection to the database was lost, so this may or may not have been stored. Retry with the same Idempotency-Key, or read before you retry.',
        { cause, details: { outcome: 'unknown' } },
      )
    default:
      return new AppError(50302, 'The database failed, and nothing was stored. Retry in a moment.', {
        cause,
        details: { outcome: 'none' },
      })
  }
}

/** The loggable part of an error: never a statement or its parameters. */
function causeOf(error: unknown): { message: string } {
  const { message } = error as { message?: unknown }
  return { message: `PostgreSQL: ${codeOf(error) || 'no code'}: ${String(message)}` }
}
