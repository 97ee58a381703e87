import type { FastifyRequest } from 'fastify'
import { AppError } from '../../errors.ts'
import type { Authorize } from '../../http/guard-routes.ts'
import { createRateLimit, type RateLimit } from '../../load/rate-limit.ts'
import type { Scope, StoredToken } from '../token.ts'
import type { Authenticator } from './authenticate.ts'

/** Requests a second of one token; undefined: unlimited. */
export interface RateLimitSettings {
  /** For each scope without one of its own; 0 turns all limits off. */
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

/** A quota lasts a second, so that a spent one is soon available again. */
const WINDOW_SECONDS = 1

/**
 * Authenticates a request, then counts it against the quota of its token, then checks its scope: a request without the
 * scope counts as well. Each scope has a quota of its own; routes that require any token, and unknown paths, share
 * one. Monitoring (`metrics:read`) is not limited.
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
  if (rateLimits.size === 0) return authenticate

  return (request, scope, done) => {
    const rateLimit = rateLimits.get(scope)
    if (rateLimit === undefined) {
      authenticate(request, scope, done)
      return
    }
    authenticate(request, scope, (rejection) => {
      // Without a caller no token has a quota.
      if (request.caller === null) done(rejection)
      else done(takeOne(rateLimit, request) ?? rejection)
    })
  }
}

function takeOne(rateLimit: RateLimit, request: FastifyRequest): AppError | undefined {
  const { isSpent, field, waitSeconds } = rateLimit.take(request.caller.id)
  // On every response, so that a client can slow down in time.
  request.responseFields ??= []
  request.responseFields.push('ratelimit-policy', rateLimit.policyField, 'ratelimit', field)
  if (!isSpent) return undefined
  return new AppError(42901, `Too many requests with this token. Send the next one in ${waitSeconds} s.`)
}
