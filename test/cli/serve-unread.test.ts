import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { test } from 'node:test'
import { eventually } from '../support/eventually.ts'
import { findFreePort } from '../support/free-port.ts'
import { temporaryFolder } from '../support/http/start-app.ts'
import { commandEnvironment, MAIN } from './run-command.ts'

for (const [what, redirection] of [
  ['whose greeting nobody reads', '| true'],
  ['whose greeting cannot be written', '> /dev/full'],
  ['whose log nobody reads', '2>&1 >/dev/null | true'],
  ['whose log cannot be written', '2> /dev/full'],
]) {
  test(`a service ${what} keeps running`, async (t) => {
    const port = await findFreePort()
    const line = `{ echo pid $BASHPID >&3; exec '${process.execPath}' '${MAIN}' serve; } ${redirection}`
    const shell = spawn('bash', ['--norc', '-c', line], {
      cwd: temporaryFolder(t),
      env: commandEnvironment('http://127.0.0.1', { PLANTSTORE_PORT: String(port) }),
      stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    })
    let pid = 0
    shell.stdio[3]?.on('data', (chunk) => {
      pid = Number(/^pid (\d+)/.exec(String(chunk))?.[1])
    })
    t.after(() => process.kill(pid, 'SIGKILL'))
    const status = await eventually(
      () =>
        fetch(`http://127.0.0.1:${port}/nowhere`, { headers: { connection: 'close' } }).then(
          (response) => response.status,
          () => undefined,
        ),
      10_000,
    )
    // A log line.
    assert.equal(status, 401)
    const again = await fetch(`http://127.0.0.1:${port}/healthz`, { headers: { connection: 'close' } })
    assert.equal(again.status, 200)
  })
}
