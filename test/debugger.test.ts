import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { constants } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { eventually } from './support/eventually.ts'
import { TOKEN, temporaryFolder } from './support/http/start-app.ts'
import { startPlantstore, startServe } from './support/process/plantstore-process.ts'

const DEBUGGER = /Debugger|inspector/i

test('SIGUSR1 opens no debugger', async (test) => {
  const service = await startServe(test)
  service.child.kill('SIGUSR1')
  assert.equal((await fetch(`${service.url}/healthz`)).status, 200)
  service.child.kill('SIGTERM')
  assert.equal(await service.exit, 0)
  assert.doesNotMatch(service.stderr, DEBUGGER)
})

test('SIGUSR1 opens no debugger in another command, and does not end it', async (test) => {
  const service = await startServe(test)
  const folder = temporaryFolder(test)
  const pipe = join(folder, 'plants.ndjson')
  execFileSync('mkfifo', [pipe])
  const environment = { PLANTSTORE_URL: service.url, PLANTSTORE_TOKEN: TOKEN }
  const run = startPlantstore(test, ['import', pipe], { folder, environment })
  // Opens once the command reads.
  await using writer = await open(pipe, 'w')
  run.child.kill('SIGUSR1')
  await writer.write('{"id":1,"name":"Rosa"}\n')
  await writer.close()
  assert.equal(await run.exit, 0, run.stderr)
  assert.doesNotMatch(run.stderr, DEBUGGER)
})

const children = (pid: number | undefined) => `/proc/${pid}/task/${pid}/children`

test('SIGUSR1 opens no debugger in the process of a check', {
  skip: !existsSync(children(process.pid)),
}, async (test) => {
  const { folder, child, exit } = await startServe(test)
  child.kill('SIGTERM')
  await exit
  const run = startPlantstore(test, ['check', 'data/plantstore.db'], { folder })
  const pid = await eventually(() => Number(readFileSync(children(run.child.pid), 'utf8')) || undefined)
  await untilCaught(pid)
  if (existsSync(`/proc/${pid}`)) process.kill(pid, 'SIGUSR1')
  assert.equal(await run.exit, 0, run.stderr)
  assert.doesNotMatch(run.stderr, DEBUGGER)
})

/** Fulfils when SIGUSR1 has a handler, or the process has ended: without one, the signal ends it. */
async function untilCaught(pid: number): Promise<void> {
  const status = `/proc/${pid}/status`
  const caught = () =>
    Number.parseInt(/^SigCgt:\t\w+(\w{8})$/m.exec(readFileSync(status, 'latin1'))?.[1] ?? '0', 16)
  while (existsSync(status) && (caught() & (1 << (constants.signals.SIGUSR1 - 1))) === 0) {
    await new Promise(setImmediate)
  }
}
