import { randomBytes } from 'node:crypto'
import type { IncomingMessage } from 'node:http'

/**
 * What an incoming id may look like: ids in use (UUIDs, ULIDs, trace ids) fit, nothing that could garble a
 * log does.
 */
const SANE_REQUEST_ID = /^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$/

/** Differs from process to process, so that counting up within one makes ids that differ everywhere. */
const processPart = randomBytes(6).toString('base64url').replaceAll('_', '0').replaceAll('-', '1')
let count = 0

/** The id of a request: the client's `X-Request-Id` where it is sane, else one of ours. */
export function requestIdOf(request: IncomingMessage): string {
  const sent = request.headers['x-request-id']
  return typeof sent === 'string' && SANE_REQUEST_ID.test(sent) ? sent : generateRequestId()
}

export function generateRequestId(): string {
  count++
  return `${processPart}-${count.toString(36)}`
}
