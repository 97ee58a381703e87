import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertErrorResponse } from '../../support/http/error-body.ts'
import { startApp } from '../../support/http/start-app.ts'

test('GET /next-id has an id that no plant has', async (t) => {
  const app = await startApp(t)
  const next = async () => (await app.fetch('/next-id')).text()
  assert.equal(await next(), '{"id":1}')
  for (const id of [41, 9223372036854775807n]) await app.send('PUT', `/plants/${id}`, '{"name":"Rosa"}')
  assert.equal(await next(), '{"id":42}')
  assert.equal((await app.send('POST', '/plants', '{"id":42,"name":"Rosa"}')).status, 200)
  assert.equal(await next(), '{"id":43}')
  await assertErrorResponse(await app.fetch('/next-id?limit=1'), 400, 40004)
})
