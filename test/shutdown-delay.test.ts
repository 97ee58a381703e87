import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eventually } from './support/eventually.ts'
import { assertErrorResponse } from './support/http/error-body.ts'
import { openWire, requestText } from './support/http/wire.ts'
import { startServe } from './support/process/plantstore-process.ts'

test('with a delay requests are served after SIGTERM, on new connections too, while /readyz responds 503', async (test) => {
  const service = await startServe(test, { environment: { PLANTSTORE_SHUTDOWN_DELAY_MS: '2000' } })
  const wire = await openWire(test, service.port)
  await wire.assertUsable()
  const askedMs = performance.now()
  service.child.kill('SIGTERM')
  await eventually(async () => {
    wire.send(requestText('GET /readyz'))
    const response = await wire.response()
    if (response.status === 200) return false
    await assertErrorResponse(response, 503, 50303)
    return true
  })
  const late = await openWire(test, service.port)
  late.send(requestText('POST /plants', {}, '{"id":1,"name":"a"}'))
  assert.equal((await late.response()).status, 200)
  assert.equal(await service.exit, 0)
  assert.ok(performance.now() - askedMs >= 1_950)
  await late.assertClosed()
})

test('a second signal during the delay ends the process at once', async (test) => {
  const service = await startServe(test, { environment: { PLANTSTORE_SHUTDOWN_DELAY_MS: '600000' } })
  const readiness = async () => (await fetch(`${service.url}/readyz`)).status
  assert.equal(await readiness(), 200)
  service.child.kill('SIGTERM')
  await eventually(async () => (await readiness()) === 503)
  service.child.kill('SIGTERM')
  assert.equal(await service.exit, 130)
})
