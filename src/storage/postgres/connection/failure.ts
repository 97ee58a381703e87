import { AppError } from '../../../errors.ts'

/** What a failure means for the statement that met it. */
type Failure =
  /** It gave way to another transaction, and may be tried again at once. */
  | 'conflict'
  /** It never reached a server that could have performed it. */
  | 'not-sent'
  /** The connection broke off: it may have been performed, or not. */
  | 'lost'
  /** Another session holds a lock for too long. */
  | 'locked'
  /** The server has no room left. */
  | 'full'
  /** The server refused it, and nothing of it was performed. */
  | 'refused'

/** By SQLSTATE (postgresql.org/docs/current/errcodes-appendix.html); any other is `refused`. */
const SERVER_FAILURES: Readonly<Record<string, Failure>> = {
  '40001': 'conflict',
  '40P01': 'conflict',
  '55P03': 'locked',
  '53100': 'full',
  '53300': 'not-sent',
  '57P03': 'not-sent',
  '25006': 'not-sent',
  // A server that is stopped while it waits for a standby has committed, and says this all the same.
  '57P01': 'lost',
  '57P02': 'lost',
  // Of a connection that idled too long, which the driver may hold against the statement after it.
  '25P03': 'lost',
  '57P05': 'lost',
  '08000': 'lost',
  '08003': 'lost',
  '08006': 'lost',
}

/** By the code of the driver, of the system, or of `connector.ts`; any other means a lost connection. */
const CONNECTION_FAILURES: Readonly<Record<string, Failure>> = {
  CONNECT_TIMEOUT: 'not-sent',
  ECONNREFUSED: 'not-sent',
  ENOTFOUND: 'not-sent',
  EAI_AGAIN: 'not-sent',
  ENOENT: 'not-sent',
  EHOSTUNREACH: 'not-sent',
  ENETUNREACH: 'not-sent',
  STANDBY: 'not-sent',
  TLS_REFUSED: 'not-sent',
}

/** Thrown inside a write to have all of it tried again: another replica came between. */
export class ConcurrentChange extends Error {
  override readonly name = 'ConcurrentChange'
}

/** 50302: a plant is locked by another session, and nothing of the write was stored. */
export class LockedError extends AppError {
  constructor(cause?: unknown) {
    super(
      50302,
      'Another session of the database has locked this plant, and nothing was stored. Retry in a moment.',
      {
        cause,
        details: { outcome: 'none' },
      },
    )
  }
}

export function failureOf(error: unknown): Failure {
  if (error instanceof ConcurrentChange) return 'conflict'
  const code = codeOf(error)
  if (isServerError(error)) return SERVER_FAILURES[code] ?? 'refused'
  return CONNECTION_FAILURES[code] ?? 'lost'
}

/** SQLSTATE, or the code of what went wrong on the way; '' when there is none. */
export function codeOf(error: unknown): string {
  return String((error as { code?: unknown } | undefined)?.code ?? '')
}

/** The error where no response came in time, with a code of this module. */
export function timeoutError(code: 'CONNECT_TIMEOUT' | 'ANSWER_TIMEOUT'): Error {
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
      return new LockedError(cause)
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

/** What of an error may be logged: its kind, never a statement or its parameters. */
function causeOf(error: unknown): { message: string } {
  const { message } = error as { message?: unknown }
  return { message: `PostgreSQL: ${codeOf(error) || 'no code'}: ${String(message)}` }
}
