import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { eventually } from '../../support/eventually.ts'
import { temporaryFolder } from '../../support/http/start-app.ts'
import { startServe } from '../../support/process/plantstore-process.ts'

test('systemd is notified once the service responds, if it waits for that', async (test) => {
  const folder = temporaryFolder(test)
  const notified = join(folder, 'notified')
  // Replaces systemd's own program, which would find no listener on the socket.
  const program =
    '#!/bin/sh\n{ echo "$NOTIFY_SOCKET $*"; cat store/plantstore.db | head -c 6; } >notified.part && mv notified.part notified\n'
  writeFileSync(join(folder, 'systemd-notify'), program, { mode: 0o755 })
  const environment = {
    NOTIFY_SOCKET: '/run/nobody',
    PATH: `${folder}:${process.env.PATH}`,
    PLANTSTORE_DATABASE: 'store/plantstore.db',
  }
  const service = await startServe(test, { folder, environment })
  const text = await eventually(() => {
    try {
      return readFileSync(notified, 'utf8')
    } catch {
      return undefined
    }
  })
  assert.equal(text, '/run/nobody --ready\nSQLite')
  service.child.kill('SIGTERM')
  assert.equal(await service.exit, 0)
  assert.doesNotMatch(service.stderr, /systemd/)
})

test('a service that cannot notify systemd logs it, and serves', async (test) => {
  const environment = { NOTIFY_SOCKET: '/run/nobody', PATH: temporaryFolder(test) }
  const service = await startServe(test, { environment })
  await eventually(() => service.stderr.includes('systemd could not be notified that the service is ready'))
  assert.equal((await fetch(`${service.url}/readyz`)).status, 200)
})
