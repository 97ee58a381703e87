import type { FastifyRequest } from 'fastify'
import { isClientConnected } from '../../http/request/request-state.ts'
import type { ReadOptions } from '../plant-store.ts'

/** Queues the reads of a request with those of its caller, and drops them if the client disconnects. */
export function readOptionsOf(request: FastifyRequest): ReadOptions {
  return { caller: request.caller.id, isWanted: () => isClientConnected(request.raw) }
}
