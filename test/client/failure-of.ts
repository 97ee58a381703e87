import assert from 'node:assert/strict'
import { RequestError } from '../../src/client/plant-store-client.ts'

/** What went wrong with a call that must fail with a RequestError. */
export async function failureOf(call: Promise<unknown>): Promise<RequestError> {
  const error = await call.then(
    () => assert.fail('it did not fail'),
    (reason: unknown) => reason,
  )
  assert.ok(error instanceof RequestError, String(error))
  return error
}
