import assert from 'node:assert/strict'
import fs, { closeSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { createLog } from '../src/log.ts'
import { temporaryFolder } from './support/http/start-app.ts'

test('a log that cannot be written does not throw, and writes its lines when there is space again', async (t) => {
  const file = join(temporaryFolder(t), 'service.log')
  const fd = openSync(file, 'a')
  t.after(() => closeSync(fd))
  const log = await createLog('info', { fd })
  const written = fs.writeSync
  const full = t.mock.method(fs, 'writeSync', (to: number, ...rest: [string]) => {
    if (to === fd) throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' })
    return written(to, ...rest)
  })
  for (let at = 0; at < 3; at++) log.info({ at }, 'while the disk is full')
  full.mock.restore()
  log.info({ at: 3 }, 'afterwards')
  await setImmediate()
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n')
  assert.deepEqual(
    lines.map((line) => JSON.parse(line).at),
    [0, 1, 2, 3],
  )
})

test('a log that cannot be written for long counts the lines beyond its buffer', async (t) => {
  const file = join(temporaryFolder(t), 'service.log')
  const fd = openSync(file, 'a')
  t.after(() => closeSync(fd))
  const log = await createLog('info', { fd })
  const full = t.mock.method(fs, 'writeSync', () => {
    throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' })
  })
  const text = 'x'.repeat(100_000)
  for (let at = 0; at < 100; at++) log.info({ at, text }, 'while the disk is full')
  full.mock.restore()
  log.info({ at: 100, text }, 'afterwards')
  await setImmediate()
  const lines = readFileSync(file, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { at?: number; lostLines?: number; msg: string })
  const kept = lines.filter(({ at }) => at !== undefined)
  assert.ok(kept.length > 1 && kept.length < 50, `${kept.length} lines are kept`)
  const last = lines.at(-1)
  assert.deepEqual(
    [last?.lostLines, last?.msg],
    [101 - kept.length, 'lines of the log are lost: it could not be written'],
  )
})
