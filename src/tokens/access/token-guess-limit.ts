import type { FastifyRequest } from 'fastify'
import { AppError } from '../../errors.ts'
import { type ClientAddress, networkOf } from '../../http/connections/client-address.ts'
import { createRateLimit, type ServiceLimit } from '../../load/rate-limit.ts'

export interface TokenGuessLimitSettings {
  /** 0 turns all limits off. */
  rateLimit: number | undefined
  /** Invalid tokens a minute per address; 0: unlimited. */
  failedAuthenticationsMax: number
}

export interface TokenGuessLimitOptions {
  limits: TokenGuessLimitSettings
  clientAddress: ClientAddress
  nowMs?: (() => number) | undefined
}

/** Limits the invalid tokens of an address: each costs a read of the storage. */
export interface TokenGuessLimit {
  /** 42901 if the address must not send another unknown token now. */
  rejectionOf(request: FastifyRequest): AppError | undefined
  /** Counts an unknown token; 42901 if it exceeds the limit. */
  count(request: FastifyRequest): AppError | undefined
}

/** Long enough to allow a few mistakes at once, short enough to end soon. */
const WINDOW_SECONDS = 60

/** Creates the limit; undefined if it is turned off. */
export function createTokenGuessLimit({
  limits: { rateLimit, failedAuthenticationsMax },
  clientAddress,
  nowMs,
}: TokenGuessLimitOptions): TokenGuessLimit | undefined {
  if (rateLimit === 0 || failedAuthenticationsMax === 0) return undefined
  const limit = createRateLimit({
    policy: 'failed-authentication',
    quota: failedAuthenticationsMax,
    windowSeconds: WINDOW_SECONDS,
    ...(nowMs && { nowMs }),
  })
  const keyOf = ({ raw }: FastifyRequest) => networkOf(clientAddress(raw))

  function rejection({ isSpent, field, waitSeconds }: ServiceLimit): AppError | undefined {
    if (!isSpent) return undefined
    return new AppError(42901, `Too many invalid tokens from this address. Retry in ${waitSeconds} s.`, {
      headers: {
        'ratelimit-policy': limit.policyField,
        ratelimit: field,
        'retry-after': String(waitSeconds),
      },
    })
  }

  return {
    rejectionOf: (request) => rejection(limit.peek(keyOf(request))),
    count: (request) => rejection(limit.take(keyOf(request))),
  }
}
