import type { ErrorCode, OverloadReason } from '../errors.ts'

/** Every error code, short enough for the label of a metric. */
export const REJECTION_REASONS: Readonly<Record<ErrorCode, string>> = {
  40000: 'not HTTP',
  40001: 'no body',
  40002: 'not JSON',
  40003: 'wrong field',
  40004: 'wrong parameter',
  40101: 'no token',
  40102: 'invalid token',
  40301: 'scope missing',
  40401: 'no such path',
  40402: 'no such plant',
  40403: 'no such token',
  40501: 'method not allowed',
  40801: 'took too long',
  40901: 'id taken',
  40902: 'idempotency key in use',
  41201: 'precondition failed',
  41301: 'body too large',
  41501: 'media type not supported',
  42201: 'idempotency key reused',
  42901: 'too many requests',
  43101: 'header fields too large',
  50001: 'internal error',
  50301: 'overloaded',
  50302: 'storage or provider unavailable',
  50303: 'shutting down',
  50701: 'storage full',
}

/** The cause of an overload, instead of "overloaded" where it is known. */
export const OVERLOAD_CAUSES: Readonly<Record<OverloadReason, string>> = {
  'event-loop-lag': 'event loop lags',
  'write-lag': 'writes lag',
  'queued-writes': 'too many writes queued',
  'queued-reads': 'too many reads queued',
  exports: 'too many exports',
  imports: 'too many imports',
}
