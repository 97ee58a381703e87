import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startApp } from '../../support/http/start-app.ts'

const app = await startApp({ after })
const timing = { prefer: 'server-timing' }

const timesIn = (response: Response) =>
  new Map(
    [...(response.headers.get('server-timing') ?? '').matchAll(/(\w+);dur=([\d.]+)/g)].map(
      ([, name = '', ms]) => [name, Number(ms)] as const,
    ),
  )

test('Server-Timing has the duration of each stage if the client prefers it', async () => {
  const response = await app.send('POST', '/plants', '{"id":1,"name":"Oak"}', timing)
  assert.equal(response.status, 200)
  const times = timesIn(response)
  assert.deepEqual([...times.keys()], ['authenticate', 'parse', 'commit', 'total'])
  const [authenticate = 0, parse = 0, commit = 0, total = 0] = times.values()
  assert.ok(commit > 0 && Math.abs(total - authenticate - parse - commit) < 1, `${[...times]}`)
  assert.deepEqual(
    [...timesIn(await app.fetch('/plants/1', { headers: timing })).keys()],
    ['authenticate', 'read', 'total'],
  )
})

test('other responses have no Server-Timing', async () => {
  for (const headers of [{}, { prefer: 'return=minimal' }, { prefer: 'server-timings' }]) {
    assert.equal((await app.fetch('/plants', { headers })).headers.get('server-timing'), null)
  }
  const among = await app.fetch('/plants', { headers: { prefer: 'respond-async, Server-Timing' } })
  assert.ok(timesIn(among).has('read'))
})
