import type { FastifyRequest } from 'fastify'
import { AppError } from '../../errors.ts'
import type { Authorize } from '../../http/guard-routes.ts'
import { createRateLimit, type RateLimit } from '../../load/rate-limit.ts'
import type { Scope, StoredToken } from '../token.ts'
import type { Authenticator } from './authenticate.ts'

/** Requests a second of one token; undefined for any number. */
export interface RateLimitSettings {
  /** For each scope that has none of its own; 0 turns all limits off. */
  rateLimit: number | undefined
  rateLimitPlantsRead: number | undefined
  rateLimitPlantsWrite: number | undefined
  rateLimitTokensManage: number | undefined
}

export interface AuthorizeOptions {
  authenticate: Authenticator
  limits: RateLimitSettings
  nowMs?: (() => number) | undefined
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** What a route requires of a caller: a scope, any valid token, or nothing. Every route must declare it. */
    scope?: Scope | 'any' | 'public'
  }
  interface FastifyRequest {
    /** The token of the request; null on public routes. */
    caller: StoredToken
  }
}

/** A quota is for a second, so that one that was spent is soon there again. */
const WINDOW_SECONDS = 1

/**
 * Judges who sent a request, then whether it is one too many of that token, then whether the token has the scope:
 * a request without the scope counts as well. Each scope has a quota of its own, and what needs any token, an
 * unknown path too, has one together. Those who watch the service (`metrics:read`) are not limited.
 */
export function createAuthorize({ authenticate, limits, nowMs }: AuthorizeOptions): Authorize {
  const rateLimits = new Map<Scope | 'any', RateLimit>()
  for (const [policy, quota] of [
    ['any', limits.rateLimit],
    ['plants:read', limits.rateLimitPlantsRead ?? limits.rateLimit],
    ['plants:write', limits.rateLimitPlantsWrite ?? limits.rateLimit],
    ['tokens:manage', limits.rateLimitTokensManage ?? limits.rateLimit],
  ] as const) {
    if (!quota || limits.rateLimit === 0) continue
    const windowSeconds = WINDOW_SECONDS
    rateLimits.set(policy, createRateLimit({ policy, quota, windowSeconds, ...(nowMs && { nowMs }) }))
  }

  return (scope) => {
    const neededScope = scope === 'any' ? undefined : scope
    const rateLimit = rateLimits.get(scope)
    if (rateLimit === undefined) return (request, _reply, done) => authenticate(request, neededScope, done)
    return (request, _reply, done) => {
      authenticate(request, neededScope, (refusal) => {
        // Nobody's request, and so of no token.
        if (request.caller === null) done(refusal)
        else done(takeOne(rateLimit, request) ?? refusal)
      })
    }
  }
}

function takeOne(rateLimit: RateLimit, request: FastifyRequest): AppError | undefined {
  const { isSpent, field, waitSeconds } = rateLimit.take(request.caller.id)
  // On every answer, whatever comes of the request, so that a client can slow down in time.
  request.responseFields ??= []
  request.responseFields.push('ratelimit-policy', rateLimit.policyField, 'ratelimit', field)
  if (!isSpent) return undefined
  return new AppError(42901, `Too many requests with this token: send the next one in ${waitSeconds} s.`)
}
