import { invalidParameter } from '../../errors.ts'

const LIMIT_DEFAULT = 100
/** A page is built in memory and sent whole. */
const LIMIT_MAX = 1_000

export const LIMIT = {
  name: 'limit',
  in: 'query',
  description: 'The maximum number of items. A larger value is lowered to 1000.',
  schema: { type: 'integer', format: 'int32', minimum: 1, default: 100 },
}

/** The parameter `limit`, lowered to LIMIT_MAX if it is larger. Throws 40004. */
export function limitIn(text: string | undefined): number {
  if (text === undefined) return LIMIT_DEFAULT
  if (!/^[1-9][0-9]*$/.test(text))
    throw invalidParameter('limit', 'limit must be a whole number of at least 1.')
  return Math.min(Number(text), LIMIT_MAX)
}
