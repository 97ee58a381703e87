import type { IncomingHttpHeaders } from 'node:http'
import type { Precondition } from './plant-store.ts'

/**
 * The precondition of a request (RFC 9110 §13.1). Unknown and malformed tags match nothing, so a malformed `If-Match`
 * fails. Weak tags match only in `If-None-Match`.
 */
export function preconditionOf(headers: IncomingHttpHeaders): Precondition {
  const precondition: Precondition = {}
  const ifMatch = headers['if-match']
  const ifNoneMatch = headers['if-none-match']
  if (ifMatch !== undefined) precondition.ifMatch = versionsIn(ifMatch, /^"(0|[1-9][0-9]{0,15})"$/)
  if (ifNoneMatch !== undefined)
    precondition.ifNoneMatch = versionsIn(ifNoneMatch, /^(?:W\/)?"(0|[1-9][0-9]{0,15})"$/)
  return precondition
}

function versionsIn(field: string, tagPattern: RegExp): 'any' | number[] {
  if (field.trim() === '*') return 'any'
  return field.split(',').flatMap((tag) => {
    const match = tagPattern.exec(tag.trim())
    return match === null ? [] : [Number(match[1])]
  })
}
