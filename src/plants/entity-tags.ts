import type { IncomingHttpHeaders } from 'node:http'
import type { Precondition } from './plant-store.ts'

/**
 * Our tag, also as a proxy that compresses returns it: nginx and HAProxy make it weak, Apache and Caddy append the
 * coding. The version is the same, so it matches. RFC 9110 §13.1.1 would reject weak tags in `If-Match`; see
 * docs/decisions/0030-tags-that-a-proxy-changed.md.
 */
const ENTITY_TAG = /^(?:W\/)?"(0|[1-9][0-9]{0,15})(?:-(?:gzip|deflate|br|zstd))?"$/

/** The precondition of a request (RFC 9110 §13.1). Unknown and malformed tags match nothing: then `If-Match` fails. */
export function preconditionOf(headers: IncomingHttpHeaders): Precondition {
  const precondition: Precondition = {}
  const ifMatch = headers['if-match']
  const ifNoneMatch = headers['if-none-match']
  if (ifMatch !== undefined) precondition.ifMatch = versionsIn(ifMatch)
  if (ifNoneMatch !== undefined) precondition.ifNoneMatch = versionsIn(ifNoneMatch)
  return precondition
}

function versionsIn(field: string): 'any' | number[] {
  if (field.trim() === '*') return 'any'
  return field.split(',').flatMap((tag) => {
    const match = ENTITY_TAG.exec(tag.trim())
    return match === null ? [] : [Number(match[1])]
  })
}
