import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { test } from 'node:test'
import { eventually } from './support/eventually.ts'
import { type StartedApp, startApp } from './support/http/start-app.ts'

/** The sum of the counts in the lines with this message, by reason. */
function countsIn({ log }: StartedApp, message: string, field: string): Record<string, number> {
  const sums: Record<string, number> = {}
  for (const line of log.filter(({ msg }) => msg === message)) {
    for (const [reason, count] of Object.entries(line[field] as Record<string, number>)) {
      sums[reason] = (sums[reason] ?? 0) + count
    }
  }
  return sums
}

test('a service that stops logs what it had only counted, so the log accounts for a whole flood', async (t) => {
  const app = await startApp(t, {
    PLANTSTORE_QUEUED_WRITES_MAX: '1',
    PLANTSTORE_CONNECTIONS_PER_ADDRESS_MAX: '100',
  })
  const creates = await Promise.all(
    Array.from({ length: 60 }, (_, id) => app.send('POST', '/plants', `{"id":${id},"name":"a"}`)),
  )
  const badHeaders = { authorization: 'Bearer wrong' }
  await Promise.all(Array.from({ length: 30 }, () => app.fetch('/plants', { headers: badHeaders })))
  const sockets = Array.from({ length: 120 }, () =>
    connect({ port: app.port, host: '127.0.0.1', localAddress: '127.0.0.2' }).on('error', () => {}),
  )
  await eventually(() => sockets.filter(({ closed }) => closed).length === 20)
  for (const socket of sockets) socket.destroy()
  await app.stop()

  const rejected = creates.filter(({ status }) => status === 503).length
  assert.ok(rejected > 2, String(rejected))
  assert.deepEqual(countsIn(app, 'overloaded', 'rejected'), { 'queued-writes': rejected })
  assert.deepEqual(countsIn(app, 'connections dropped', 'dropped'), { 'connections-of-address': 20 })
  const logged = app.log.filter(({ error, msg }) => error === 40102 && msg === 'request rejected').length
  assert.deepEqual(countsIn(app, 'more requests rejected', 'suppressed'), { 40102: 30 - logged })
})
