import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { isWellFormedToken } from '../../src/tokens/token.ts'
import { startApp, temporaryFolder } from '../support/http/start-app.ts'
import { commandEnvironment, runCommand } from './run-command.ts'

test('with --quiet a command that succeeds prints only its result', async (t) => {
  const folder = temporaryFolder(t)
  const at = (name: string) => join(folder, name)
  const app = await startApp(t, { PLANTSTORE_DATABASE: at('plants.db') })
  writeFileSync(at('in.csv'), 'id,name\n1,Rosa canina\n')
  const environment = { ...commandEnvironment(app.url), PLANTSTORE_LOG_LEVEL: 'warn' }
  const run = (...words: string[]) => runCommand(t, [...words, '--quiet'], { environment })
  for (const words of [
    ['import', at('in.csv')],
    ['export', at('out.csv')],
    ['backup', at('backup.db'), '--database', at('plants.db')],
    ['restore', at('backup.db'), '--database', at('restored.db')],
    ['check', at('restored.db')],
    ['copy', '--from', at('restored.db'), '--to', at('copied.db')],
    ['migrate', '--database', at('copied.db')],
    ['delete', '1'],
  ]) {
    assert.deepEqual(await run(...words), { code: 0, stdout: '', stderr: '' }, words.join(' '))
  }
  const created = await run('token', 'create', '--database', at('plants.db'))
  assert.deepEqual([created.code, created.stderr], [0, ''])
  assert.ok(isWellFormedToken(created.stdout.trim()))
})

test('with --quiet failures are still printed', async (t) => {
  const app = await startApp(t)
  const folder = temporaryFolder(t)
  const file = join(folder, 'in.csv')
  writeFileSync(file, 'id,name\ntwo,Rosa canina\n')
  const run = (...words: string[]) =>
    runCommand(t, [...words, '--quiet'], { environment: commandEnvironment(app.url) })
  const imported = await run('import', file)
  assert.deepEqual([imported.code, imported.stdout], [1, ''])
  assert.match(imported.stderr, /^line 2: /)
  assert.deepEqual(await run('delete', '7'), {
    code: 1,
    stdout: '',
    stderr: 'plantstore: There is no plant 7.\n',
  })
})
