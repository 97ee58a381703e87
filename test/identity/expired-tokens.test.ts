import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertErrorResponse } from '../support/http/error-body.ts'
import { startApp } from '../support/http/start-app.ts'
import { AUDIENCE, newKey, startOpenIdProvider } from '../support/openid-provider.ts'

test('an expired token does not count as a guess, so a renewed token from the same address still works', async (t) => {
  const provider = await startOpenIdProvider(t)
  const app = await startApp(t, {
    PLANTSTORE_OIDC_ISSUER: provider.issuer,
    PLANTSTORE_OIDC_AUDIENCE: AUDIENCE,
    PLANTSTORE_FAILED_AUTHENTICATIONS_MAX: '2',
  })
  const asking = (token: string) => app.fetch('/plants', { headers: { authorization: `Bearer ${token}` } })
  const exp = Math.floor(Date.now() / 1000) - 3600
  const expired = await provider.sign({ exp })
  for (let count = 0; count < 5; count++) {
    assert.match(await assertErrorResponse(await asking(expired), 401, 40102), /^The token has expired\.$/)
  }
  assert.equal((await asking(await provider.sign())).status, 200)

  // A token with a wrong signature does count.
  const forged = await provider.sign({ exp }, {}, await newKey(provider.key.kid))
  for (let count = 0; count < 2; count++) await assertErrorResponse(await asking(forged), 401, 40102)
  await assertErrorResponse(await asking(forged), 429, 42901)
})
