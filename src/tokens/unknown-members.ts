import type { FieldProblem } from '../errors.ts'

/** A body may have thousands of unknown members. */
const REPORTED_MEMBERS_MAX = 10

/** Of a longer name only the beginning is repeated. */
const NAME_CHARACTERS_MAX = 50

/**
 * The members of a body that its schema does not have, up to REPORTED_MEMBERS_MAX. Ignoring one would let a typo widen
 * access: a token with `expires` instead of `expiresAt` would never expire.
 */
export function unknownMembers(body: object, schema: { properties: object }): FieldProblem[] {
  const known = Object.keys(schema.properties)
  const unknown = Object.keys(body).filter((name) => !known.includes(name))
  return unknown.slice(0, REPORTED_MEMBERS_MAX).map((name) => {
    const shown = name.slice(0, NAME_CHARACTERS_MAX).toWellFormed()
    const message = `The member ${JSON.stringify(shown)} is unknown. Supported: ${known.join(', ')}.`
    return { name: shown, rule: 'unknown-member', message }
  })
}
