import type { IncomingHttpHeaders } from 'node:http'
import { invalidParameter } from '../errors.ts'
import type { Precondition } from './plant-store.ts'

/**
 * Our tag, also as a proxy that compresses returns it: nginx and HAProxy make it weak, Apache and Caddy append the
 * coding. The version is the same, so it matches. RFC 9110 §13.1.1 would reject weak tags in `If-Match`; see
 * docs/decisions/0030-tags-that-a-proxy-changed.md.
 */
const ENTITY_TAG = /^(?:W\/)?"(0|[1-9][0-9]{0,15})(?:-(?:gzip|deflate|br|zstd))?"$/

/** A list of entity tags (RFC 9110 §8.8.3, §5.6.1); the text of one may have commas. */
const ANY_TAG = String.raw`(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"`
const TAG_LIST = new RegExp(String.raw`^[ \t,]*${ANY_TAG}(?:[ \t]*,[ \t,]*${ANY_TAG})*[ \t,]*$`)

/**
 * The precondition of a request (RFC 9110 §13.1). Tags of others match nothing: then `If-Match` fails. Throws 40004 for
 * a field that is not `*` or a list of entity tags, as with an unquoted tag `If-Match` would fail for ever.
 */
export function preconditionOf(headers: IncomingHttpHeaders): Precondition {
  const precondition: Precondition = {}
  const ifMatch = headers['if-match']
  const ifNoneMatch = headers['if-none-match']
  if (ifMatch !== undefined) precondition.ifMatch = versionsIn('If-Match', ifMatch)
  if (ifNoneMatch !== undefined) precondition.ifNoneMatch = versionsIn('If-None-Match', ifNoneMatch)
  return precondition
}

function versionsIn(name: string, field: string): 'any' | number[] {
  if (field.trim() === '*') return 'any'
  if (!TAG_LIST.test(field)) {
    throw invalidParameter(name, `${name} must be * or ETags in quotation marks, such as "123".`)
  }
  return field.split(',').flatMap((tag) => {
    const match = ENTITY_TAG.exec(tag.trim())
    return match === null ? [] : [Number(match[1])]
  })
}
