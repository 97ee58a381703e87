import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { startApp, temporaryFolder } from '../../support/http/start-app.ts'
import { commandEnvironment, commandsOn, MAIN } from '../run-command.ts'

test('an existing file is replaced by failed rows only, and otherwise unchanged', async (t) => {
  const run = commandsOn(t, await startApp(t))
  const folder = temporaryFolder(t)
  const file = join(folder, 'failed.ndjson')
  const words = ['import', '-', '--format', 'ndjson', '--errors', 'failed.ndjson']
  assert.equal((await run(words, { folder, input: '{"id":1,"name":"a"}\n' })).code, 0)
  assert.deepEqual(readdirSync(folder), [], 'none is made for nothing')
  writeFileSync(file, 'older\n')
  assert.equal((await run(words, { folder, input: 'x\n' })).code, 1)
  assert.equal(readFileSync(file, 'utf8'), 'x\n')
  const kept = /No row failed\. failed\.ndjson is unchanged\.\n/
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

test('failed rows are compressed if the name of their file ends in .gz', async (t) => {
  const run = commandsOn(t, await startApp(t))
  const folder = temporaryFolder(t)
  const words = ['import', '-', '--format', 'csv', '--errors', 'failed.csv.gz']
  const { stderr } = await run(words, { folder, input: 'id,name\n1,a\nII,b\n' })
  assert.match(stderr, /then run: plantstore import failed\.csv\.gz\n$/)
  const failed = gunzipSync(readFileSync(join(folder, 'failed.csv.gz')))
  assert.equal(String(failed), 'id,name\nII,b\n')
  const again = await run(['import', 'failed.csv.gz'], { folder })
  assert.deepEqual([again.code, again.stdout], [1, '0 created, 1 failed.\n'])
})

test('if failed rows cannot be written, nothing is sent, or the counts are reported', async (t) => {
  const run = commandsOn(t, await startApp(t))
  const folder = temporaryFolder(t)
  writeFileSync(join(folder, 'in.csv'), 'id,name\n1,a\nx,y\n')
  for (const errors of ['no/such/folder.csv', '.', 'in.csv/failed.csv']) {
    const { code, stdout, stderr } = await run(['import', 'in.csv', '--errors', errors], { folder })
    assert.deepEqual([code, stdout], [1, ''])
    assert.match(stderr, /^plantstore: Cannot write [^\n]+: [^\n]+\n$/)
  }
  assert.deepEqual([(await run(['list'])).stdout, readdirSync(folder)], ['', ['in.csv']])
  const full = await run(['import', 'in.csv', '--errors', '/dev/full'], { folder })
  assert.deepEqual([full.code, full.stdout], [1, '1 created, 1 failed.\n'])
  assert.match(
    full.stderr,
    /\nplantstore: The failed rows were not written\. Cannot write \/dev\/full: no space left\.\n$/,
  )
})

test('failed rows do not overwrite the file on standard input', async (t) => {
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
