import type { FastifyRequest } from 'fastify'
import { AppError, invalidParameter } from '../../errors.ts'

/** An unknown name is quoted up to this length. */
const NAME_CHARACTERS_MAX = 50

/**
 * The query parameters of a request: each at most once, and only those in `known`. Throws 40004 otherwise, as an
 * ignored typo would silently change the result.
 */
export function queryOf<Name extends string>(
  request: FastifyRequest,
  known: readonly Name[],
): Partial<Record<Name, string>> {
  checkEncoding(request.url)
  const query = request.query as Record<string, string | string[]>
  for (const name in query) {
    const value = query[name]
    if (!known.includes(name as Name)) throw unknownParameter(name, known)
    if (typeof value !== 'string') {
      throw invalidParameter(name, `The query parameter ${name} must be given once.`)
    }
    if (!value.isWellFormed() || value.includes('\0')) {
      throw invalidParameter(name, `The query parameter ${name} must not contain U+0000 or lone surrogates.`)
    }
  }
  return query as Partial<Record<Name, string>>
}

function unknownParameter(name: string, known: readonly string[]): AppError {
  const shown = name.slice(0, NAME_CHARACTERS_MAX).toWellFormed()
  const advice =
    known.length === 0 ? 'This operation has no query parameters.' : `Supported: ${known.join(', ')}.`
  return invalidParameter(shown, `The query parameter ${JSON.stringify(shown)} is unknown. ${advice}`)
}

/** The router leaves undecodable text as it is: a search would look for a text that the client did not mean. */
function checkEncoding(target: string): void {
  const start = target.indexOf('?')
  if (start < 0) return
  try {
    decodeURIComponent(target.slice(start + 1))
  } catch {
    throw new AppError(40004, 'The query is not percent-encoded UTF-8. Write a percent sign as %25.')
  }
}
