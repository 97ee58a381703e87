import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AppError } from '../../../src/errors.ts'
import { assertErrorAnswer } from '../../support/http/error-body.ts'
import { startAlteredApp } from '../../support/http/start-altered-app.ts'
import { startApp } from '../../support/http/start-app.ts'

test('GET /additions tells the days on which plants were added, with their numbers', async (t) => {
  const app = await startApp(t)
  const before = new Date().toISOString()
  const empty = await app.fetch('/additions')
  const { countedAt, ...rest } = (await empty.json()) as { countedAt: string }
  assert.deepEqual(rest, { days: [] })
  assert.ok(countedAt >= before && countedAt <= new Date().toISOString(), countedAt)
})

test('plants that are there are counted on their day', async (t) => {
  const app = await startApp(t)
  for (const id of [1, 2]) await app.send('POST', '/plants', `{"id":${id},"name":"Rosa"}`)
  const plants = (await (await app.fetch('/plants')).json()) as { createdAt: string }[]
  const days = plants.map(({ createdAt }) => createdAt.slice(0, 10))
  const wanted = [...new Set(days)].map((day) => ({ day, count: days.filter((one) => one === day).length }))
  const answer = (await (await app.fetch('/additions')).json()) as { days: unknown }
  assert.deepEqual(answer.days, wanted)
  // It is kept: another plant is not in it yet.
  await app.send('POST', '/plants', '{"id":3,"name":"Rosa"}')
  assert.deepEqual(await (await app.fetch('/additions')).json(), answer)
})

test('a query parameter is refused', async (t) => {
  const app = await startApp(t)
  await assertErrorAnswer(await app.fetch('/additions?limit=1'), 400, 40004)
})

test('a store that fails is told as 50302, and the next request counts again', async (t) => {
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
  await assertErrorAnswer(await app.fetch('/additions'), 503, 50302)
  assert.equal((await app.fetch('/additions')).status, 200)
})
