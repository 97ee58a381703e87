import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { test } from 'node:test'
import { eventually } from '../support/eventually.ts'
import { temporaryFolder } from '../support/http/start-app.ts'
import { commandEnvironment, MAIN } from './run-command.ts'
import { NO_TERMINAL } from './terminal.ts'

test('a service whose terminal is closed does not outlive it', { skip: NO_TERMINAL }, async (t) => {
  const line = `echo pid $$; exec '${process.execPath}' '${MAIN}' serve`
  const terminal = spawn('script', ['-qefc', line, '/dev/null'], {
    cwd: temporaryFolder(t),
    env: commandEnvironment('http://127.0.0.1', { PLANTSTORE_PORT: '0' }),
  })
  t.after(() => terminal.kill('SIGKILL'))
  let text = ''
  terminal.stdout.on('data', (chunk) => {
    text += chunk
  })
  const url = await eventually(() => /is at (http:\S+)/.exec(text)?.[1], 10_000)
  const pid = Number(/^pid (\d+)/m.exec(text)?.[1])
  // While the terminal exists, SIGHUP reloads the certificate.
  process.kill(pid, 'SIGHUP')
  await eventually(() => text.includes('there is no certificate'))
  assert.equal((await fetch(`${url}/healthz`, { headers: { connection: 'close' } })).status, 200)
  terminal.kill('SIGKILL')
  await eventually(() =>
    fetch(`${url}/healthz`, { headers: { connection: 'close' } }).then(
      () => false,
      () => true,
    ),
  )
})
