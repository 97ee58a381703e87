import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { startApp, temporaryFolder } from '../../support/http/start-app.ts'
import { commandEnvironment, commandsOn, MAIN } from '../run-command.ts'

test('a file that is there is replaced by refused rows only, and stays whatever else happens', async (t) => {
  const run = commandsOn(t, await startApp(t))
  const folder = temporaryFolder(t)
  const file = join(folder, 'refused.ndjson')
  const words = ['import', '-', '--format', 'ndjson', '--errors', 'refused.ndjson']
  assert.equal((await run(words, { folder, input: '{"id":1,"name":"a"}\n' })).code, 0)
  assert.deepEqual(readdirSync(folder), [], 'none is made for nothing')
  writeFileSync(file, 'older\n')
  assert.equal((await run(words, { folder, input: 'x\n' })).code, 1)
  assert.equal(readFileSync(file, 'utf8'), 'x\n')
  const kept = /No row was refused; refused\.ndjson is as it was\.\n/
  const well = await run(words, { folder, input: '{"id":2,"name":"a"}\n' })
  assert.deepEqual([well.code, well.stdout], [0, '1 created.\n'])
  assert.match(well.stderr, kept)
  const environment = { PLANTSTORE_TOKEN: 'no-token-of-this-service' }
  const failed = await run(words, { folder, input: 'x\n', environment })
  assert.equal(failed.code, 1)
  assert.match(failed.stderr, kept)
  assert.equal(readFileSync(file, 'utf8'), 'x\n')
  assert.equal((await run([...words.slice(0, -1), '/dev/null'], { input: '{"id":3,"name":"a"}\n' })).code, 0)
  assert.ok(existsSync('/dev/null'))
})

test('refused rows are compressed where the name of their file ends in .gz', async (t) => {
  const run = commandsOn(t, await startApp(t))
  const folder = temporaryFolder(t)
  const words = ['import', '-', '--format', 'csv', '--errors', 'refused.csv.gz']
  const { stderr } = await run(words, { folder, input: 'id,name\n1,a\nII,b\n' })
  assert.match(stderr, /then: plantstore import refused\.csv\.gz\n$/)
  const refused = gunzipSync(readFileSync(join(folder, 'refused.csv.gz')))
  assert.equal(String(refused), 'id,name\nII,b\n')
  const again = await run(['import', 'refused.csv.gz'], { folder })
  assert.deepEqual([again.code, again.stdout], [1, '0 created, 1 refused.\n'])
})

test('where refused rows cannot be written, nothing is sent, or it is told what is stored', async (t) => {
  const run = commandsOn(t, await startApp(t))
  const folder = temporaryFolder(t)
  writeFileSync(join(folder, 'in.csv'), 'id,name\n1,a\nx,y\n')
  for (const errors of ['no/such/folder.csv', '.', 'in.csv/refused.csv']) {
    const { code, stdout, stderr } = await run(['import', 'in.csv', '--errors', errors], { folder })
    assert.deepEqual([code, stdout], [1, ''])
    assert.match(stderr, /^plantstore: [^\n]+: cannot write it: [^\n]+\n$/)
  }
  assert.deepEqual([(await run(['list'])).stdout, readdirSync(folder)], ['', ['in.csv']])
  const full = await run(['import', 'in.csv', '--errors', '/dev/full'], { folder })
  assert.deepEqual([full.code, full.stdout], [1, '1 created, 1 refused.\n'])
  assert.match(
    full.stderr,
    /\nplantstore: The refused rows are not written down: \/dev\/full: cannot write it: no space is left\.\n$/,
  )
})

test('refused rows are not written over the file that comes on standard input', async (t) => {
  const app = await startApp(t)
  const folder = temporaryFolder(t)
  const file = join(folder, 'in.csv')
  writeFileSync(file, 'id,name\n1,a\nx,y\n')
  const line = `exec '${process.execPath}' '${MAIN}' import - --format csv --errors in.csv < in.csv`
  const { status } = spawnSync('sh', ['-c', line], {
    cwd: folder,
    env: commandEnvironment(app.url),
    timeout: 10_000,
  })
  assert.equal(status, 2)
  assert.equal(readFileSync(file, 'utf8'), 'id,name\n1,a\nx,y\n')
})
