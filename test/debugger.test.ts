import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startServe } from './support/process/plantstore-process.ts'

test('SIGUSR1 opens no debugger', async (test) => {
  const service = await startServe(test)
  service.child.kill('SIGUSR1')
  assert.equal((await fetch(`${service.url}/healthz`)).status, 200)
  service.child.kill('SIGTERM')
  assert.equal(await service.exit, 0)
  assert.doesNotMatch(service.stderr, /Debugger|inspector/i)
})
