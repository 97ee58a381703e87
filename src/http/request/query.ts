import type { FastifyRequest } from 'fastify'
import { AppError } from '../../errors.ts'

/**
 * The query parameters of a request, each at most once and only those in `known`. Throws 40004 otherwise: a
 * typo would else change what is asked for without a word.
 */
export function queryOf<Name extends string>(
  request: FastifyRequest,
  known: readonly Name[],
): Partial<Record<Name, string>> {
  checkEncoding(request.url)
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

/**
 * The router takes what it cannot decode as it stands, which would look for something that nobody asked for.
 */
function checkEncoding(target: string): void {
  const start = target.indexOf('?')
  if (start < 0) return
  try {
    decodeURIComponent(target.slice(start + 1))
  } catch {
    throw new AppError(40004, 'The query is not percent-encoded UTF-8: write a percent sign as %25.')
  }
}
