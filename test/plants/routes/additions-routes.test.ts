import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AppError } from '../../../src/errors.ts'
import { assertErrorResponse } from '../../support/http/error-body.ts'
import { startAlteredApp } from '../../support/http/start-altered-app.ts'
import { startApp } from '../../support/http/start-app.ts'

test('GET /additions has the time of the count, and no days for an empty store', async (t) => {
  const app = await startApp(t)
  const before = new Date().toISOString()
  const empty = await app.fetch('/additions')
  const { countedAt, ...rest } = (await empty.json()) as { countedAt: string }
  assert.deepEqual(rest, { days: [] })
  assert.ok(countedAt >= before && countedAt <= new Date().toISOString(), countedAt)
})

test('plants are counted by the day of their creation', async (t) => {
  const app = await startApp(t)
  for (const id of [1, 2]) await app.send('POST', '/plants', `{"id":${id},"name":"Rosa"}`)
  const plants = (await (await app.fetch('/plants')).json()) as { createdAt: string }[]
  const days = plants.map(({ createdAt }) => createdAt.slice(0, 10))
  const wanted = [...new Set(days)].map((day) => ({ day, count: days.filter((one) => one === day).length }))
  const response = (await (await app.fetch('/additions')).json()) as { days: unknown }
  assert.deepEqual(response.days, wanted)
  // The count is cached: it does not have the next plant yet.
  await app.send('POST', '/plants', '{"id":3,"name":"Rosa"}')
  assert.deepEqual(await (await app.fetch('/additions')).json(), response)
})

test('a query parameter is rejected', async (t) => {
  const app = await startApp(t)
  await assertErrorResponse(await app.fetch('/additions?limit=1'), 400, 40004)
})

test('a failure of the store is 50302, and the next request counts again', async (t) => {
  let failures = 1
  const app = await startAlteredApp(t, {
    storage: (real) => ({
      ...real,
      plants: {
        ...real.plants,
        countAdditions(afterId, limit) {
          if (failures-- > 0) return Promise.reject(new AppError(50302, 'The storage failed.'))
          return real.plants.countAdditions(afterId, limit)
        },
      },
    }),
  })
  await assertErrorResponse(await app.fetch('/additions'), 503, 50302)
  assert.equal((await app.fetch('/additions')).status, 200)
})
