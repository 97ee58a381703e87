import type { FastifyRequest } from 'fastify'
import { AppError } from '../../errors.ts'
import { type ClientAddress, networkOf } from '../../http/connections/client-address.ts'
import { createRateLimit, type ServiceLimit } from '../../load/rate-limit.ts'

export interface TokenGuessLimitSettings {
  /** 0 turns all limits off. */
  rateLimit: number | undefined
  /** Tokens that are not valid which an address may send in a minute; 0 for any number. */
  failedAuthenticationsMax: number
}

export interface TokenGuessLimitOptions {
  limits: TokenGuessLimitSettings
  clientAddress: ClientAddress
  nowMs?: (() => number) | undefined
}

/** Keeps an address from guessing tokens, which costs the storage a look each. */
export interface TokenGuessLimit {
  /** 42901, if the address may not try another token now. */
  refusalOf(request: FastifyRequest): AppError | undefined
  /** Counts a token that was not known; 42901 if it was one too many. */
  count(request: FastifyRequest): AppError | undefined
}

/** Long enough that a few mistakes at once are forgiven, and soon forgotten. */
const WINDOW_SECONDS = 60

/** Undefined where any number is allowed. */
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

  function refusal({ isSpent, field, waitSeconds }: ServiceLimit): AppError | undefined {
    if (!isSpent) return undefined
    return new AppError(
      42901,
      `Too many tokens from this address that are not valid: send the next one in ${waitSeconds} s.`,
      {
        headers: {
          'ratelimit-policy': limit.policyField,
          ratelimit: field,
          'retry-after': String(waitSeconds),
        },
      },
    )
  }

  return {
    refusalOf: (request) => refusal(limit.peek(keyOf(request))),
    count: (request) => refusal(limit.take(keyOf(request))),
  }
}
