import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { eventually } from '../../support/eventually.ts'
import { temporaryFolder } from '../../support/http/start-app.ts'
import { startService } from '../../support/process/service-process.ts'

const skip = process.platform === 'win32' && 'Windows has no such limit'

test('a limit of more connections than file descriptors logs a warning on start', { skip }, async (t) => {
  const start = (connectionsMax: string) =>
    startService(t, {
      database: join(temporaryFolder(t), 'plants.db'),
      launcher: ['sh', '-c', 'ulimit -n 500; exec "$@"', 'sh'],
      environment: { PLANTSTORE_CONNECTIONS_MAX: connectionsMax },
    })
  const warning = /"connectionsMax":500,"descriptorsMax":500,"msg":"more connections are allowed/
  const many = await start('500')
  await eventually(() => warning.test(many.errors()))

  for (const connectionsMax of ['400', '0']) {
    const few = await start(connectionsMax)
    await eventually(() => few.errors().includes('"serving"'))
    assert.doesNotMatch(few.errors(), /descriptorsMax/)
  }
})
