import { randomBytes } from 'node:crypto'
import type { IncomingMessage } from 'node:http'

/** Matches common ids (UUIDs, ULIDs, trace ids), and nothing that could garble a log. */
const SAFE_REQUEST_ID = /^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$/

/** Different in each process, so that a counter makes ids that are unique across processes. */
const processPart = randomBytes(6).toString('base64url').replaceAll('_', '0').replaceAll('-', '1')
let count = 0

/** The id of a request: the client's `X-Request-Id` if it is safe to log, else a generated one. */
export function requestIdOf(request: IncomingMessage): string {
  const sent = request.headers['x-request-id']
  return typeof sent === 'string' && SAFE_REQUEST_ID.test(sent) ? sent : generateRequestId()
}

export function generateRequestId(): string {
  count++
  return `${processPart}-${count.toString(36)}`
}
