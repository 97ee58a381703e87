import assert from 'node:assert/strict'
import type { ErrorCode, ErrorDetails } from '../../../src/errors.ts'
import { meaningOf } from '../../../src/errors.ts'
import type { WireResponse } from './wire.ts'

/** What no response may contain: paths of the code, texts of the storage, the token of the request. */
const LEAKS = /\bat .*[:(]\d+|node_modules|file:\/\/|\.ts\b|SQLITE|SELECT |INSERT |sqlite|plst_|test-token/

/** As `errorIn`. Returns the message. */
export async function assertErrorResponse(...parameters: Parameters<typeof errorIn>): Promise<string> {
  return (await errorIn(...parameters)).message
}

/**
 * Asserts that a response has an Error body with that status and code, and the header fields of such a response, and
 * leaks nothing. Returns its message and details.
 */
export async function errorIn(
  response: Response | WireResponse,
  status: number,
  code: ErrorCode,
): Promise<{ message: string; details: ErrorDetails }> {
  const header = (name: string) =>
    response.headers instanceof Headers ? response.headers.get(name) : (response.headers[name] ?? null)
  const text = response instanceof Response ? await response.text() : response.body
  const about = `${response.status} ${text}`
  assert.equal(response.status, status, about)
  assert.equal(header('content-type'), 'application/json; charset=utf-8', about)
  assert.equal(header('content-length'), String(Buffer.byteLength(text)), about)
  assert.equal(header('x-content-type-options'), 'nosniff', about)
  assert.match(header('x-request-id') ?? '', /^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$/, about)
  const { retryAfterSeconds } = meaningOf(code)
  if (code === 42901) assert.match(header('retry-after') ?? '', /^[1-9]\d*$/, about)
  else {
    const expected = retryAfterSeconds === undefined ? null : String(retryAfterSeconds)
    assert.equal(header('retry-after'), expected, about)
  }
  if (status === 401 || status === 403)
    assert.match(header('www-authenticate') ?? '', /^Bearer realm="plantstore"/)
  else assert.equal(header('www-authenticate'), null, about)
  assert.equal(header('allow') !== null, status === 405, about)
  const body = JSON.parse(text) as { error: unknown; message: unknown; details?: ErrorDetails }
  const members = body.details === undefined ? ['error', 'message'] : ['error', 'message', 'details']
  assert.deepEqual(Object.keys(body), members, about)
  if (body.details !== undefined) assert.notDeepEqual(body.details, {}, about)
  assert.equal(body.error, code, about)
  assert.equal(typeof body.message, 'string', about)
  assert.doesNotMatch(String(body.message), LEAKS)
  return { message: String(body.message), details: body.details ?? {} }
}
