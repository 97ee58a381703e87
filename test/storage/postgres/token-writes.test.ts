import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AppError } from '../../../src/errors.ts'
import type { PostgresClient } from '../../../src/storage/postgres/connection/client.ts'
import { createPostgresTokenStore } from '../../../src/storage/postgres/token-store.ts'

test('token writes beyond the queue are rejected with 50301 until it has room', async () => {
  const stuck = Promise.withResolvers<void>()
  let begun = 0
  const client: PostgresClient = {
    read: () => Promise.reject(new Error('not asked for')),
    async write() {
      begun++
      await stuck.promise
      throw new AppError(50302)
    },
    close: async () => {},
  }
  const tokens = createPostgresTokenStore({
    committer: client,
    pool: client,
    isSharded: false,
    nowMs: Date.now,
  })
  const isCode = (code: number) => (error: unknown) => error instanceof AppError && error.code === code
  const waiting = Promise.allSettled(Array.from({ length: 1_000 }, () => tokens.revoke('a')))
  await assert.rejects(tokens.revoke('b'), isCode(50301))
  tokens.recordUse('c', 1)
  assert.equal(begun, 1_000)
  stuck.resolve()
  await waiting
  await assert.rejects(tokens.revoke('d'), isCode(50302))
  assert.equal(begun, 1_001)
})
