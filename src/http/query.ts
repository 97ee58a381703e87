import type { FastifyRequest } from 'fastify'
import { AppError } from '../errors.ts'

/**
 * The query parameters of a request, each at most once and only those in `known`. Throws 40004 otherwise: a typo would
 * else change what is asked for without a word.
 */
export function queryOf<Name extends string>(
  request: FastifyRequest,
  known: readonly Name[],
): Partial<Record<Name, string>> {
  const query = request.query as Record<string, string | string[]>
  for (const name in query) {
    const value = query[name]
    if (!known.includes(name as Name)) {
      const those = known.length === 0 ? 'this operation has none' : `there are ${known.join(', ')}`
      throw new AppError(40004, `There is no query parameter ${JSON.stringify(name.slice(0, 50))}: ${those}.`)
    }
    if (typeof value !== 'string') throw new AppError(40004, `The query parameter ${name} may be given once.`)
    if (!value.isWellFormed() || value.includes('\0')) {
      throw new AppError(40004, `The query parameter ${name} holds a character that no plant has.`)
    }
  }
  return query as Partial<Record<Name, string>>
}
