import type { FastifyRequest } from 'fastify'
import { canBeAnswered } from '../../http/request/can-be-answered.ts'
import type { ReadOptions } from '../plant-store.ts'

/** The reads of a request are queued as its caller's, and are not wanted once its connection is gone. */
export function readOptionsOf(request: FastifyRequest): ReadOptions {
  return { caller: request.caller.id, isWanted: () => canBeAnswered(request.raw) }
}
