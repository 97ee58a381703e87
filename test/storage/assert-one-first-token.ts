import assert from 'node:assert/strict'
import type { Storage } from '../../src/storage/storage.ts'
import { hashToken } from '../../src/tokens/token.ts'

const ROUNDS = 20

/** Exactly one of several storages on one store creates the first token when all try at once, every time. */
export async function assertOneFirstToken(storages: readonly Storage[]): Promise<void> {
  for (let round = 0; round < ROUNDS; round++) {
    const made = await Promise.all(
      storages.map(({ tokens }, at) => {
        const id = `token-${round}-${at}`
        return tokens.createFirst({ id, label: '', scopes: [], createdAtMs: round }, hashToken(id))
      }),
    )
    assert.equal(made.filter((isFirst) => isFirst).length, 1, `round ${round}: ${made}`)
    for (const { tokens } of storages) {
      const stored = await tokens.list()
      assert.deepEqual(
        stored.map(({ id }) => id),
        [`token-${round}-${made.indexOf(true)}`],
      )
    }
    await storages[0]?.tokens.revoke(`token-${round}-${made.indexOf(true)}`)
  }
}
