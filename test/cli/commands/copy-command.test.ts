import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { startApp, temporaryFolder } from '../../support/http/start-app.ts'
import { runCommand } from '../run-command.ts'

test('copy creates a store with the same plants and tokens, and reports their numbers', async (t) => {
  const app = await startApp(t)
  const made = await app.send('POST', '/tokens', '{"label":"greenhouse","scopes":["plants:read"]}')
  const { token } = (await made.json()) as { token: string }
  await app.send('POST', '/plants', '{"id":9007199254740993,"name":"Medicago ×varia","tag":"herb"}')
  const before = await app.fetch('/plants/9007199254740993')
  await app.stop()
  const to = join(temporaryFolder(t), 'copy.db')
  const run = await runCommand(t, ['copy', '--from', app.database, '--to', to])
  assert.deepEqual([run.code, run.stderr], [0, ''])
  assert.equal(run.stdout, `1 plant and 1 token are in ${to}, each compared.\n`)
  const copy = await startApp(t, { PLANTSTORE_DATABASE: to })
  const after = await copy.fetch('/plants/9007199254740993', {
    headers: { authorization: `Bearer ${token}` },
  })
  assert.equal(after.headers.get('etag'), before.headers.get('etag'))
  assert.equal(await after.text(), await before.text())
})

test('copy rejects a missing source, and one store as both, in one line', async (t) => {
  const folder = temporaryFolder(t)
  const here = join(folder, 'here.db')
  const absent = await runCommand(t, ['copy', '--from', join(folder, 'nothing.db'), '--to', here])
  assert.equal(absent.code, 1)
  assert.match(
    absent.stderr,
    /^plantstore: There is no database at \S+nothing\.db: name it with --from, [^\n]+\n$/,
  )
  assert.ok(!existsSync(here))
  const same = await runCommand(t, ['copy', '--from', here, '--to', here])
  assert.deepEqual([same.code, same.stderr], [1, 'plantstore: --from and --to name the same store.\n'])
})

test('migrate creates a store, and leaves an up-to-date one unchanged', async (t) => {
  const database = join(temporaryFolder(t), 'plants.db')
  for (let run = 0; run < 2; run++) {
    const { code, stdout } = await runCommand(t, ['migrate', '--database', database])
    assert.deepEqual([code, stdout], [0, `The schema of ${database} is up to date.\n`])
  }
  assert.ok(existsSync(database))
})
