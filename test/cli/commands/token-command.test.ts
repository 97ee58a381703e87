import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { isWellFormedToken } from '../../../src/tokens/token.ts'
import { eventually } from '../../support/eventually.ts'
import { startApp, temporaryFolder } from '../../support/http/start-app.ts'
import { startPlantstore } from '../../support/process/plantstore-process.ts'
import { MAIN, runCommand } from '../run-command.ts'

test('tokens are created, listed and revoked while a service runs', async (test) => {
  const app = await startApp(test)
  const token = (...parameters: string[]) =>
    runCommand(test, ['token', ...parameters, '--database', app.database])
  const asking = async (secret: string) => {
    const response = await app.fetch('/plants', { headers: { authorization: `Bearer ${secret}` } })
    await response.arrayBuffer()
    return response.status
  }

  const made = await token('create', '--label', 'the greenhouse', '--scope', 'plants:read')
  assert.equal(made.code, 0)
  const secret = made.stdout.trimEnd()
  assert.equal(made.stdout, `${secret}\n`, 'standard output holds the token alone, ready for a pipe')
  assert.ok(isWellFormedToken(secret))
  const [, id = ''] = /^Token (\w+) with plants:read\. It is shown only once:\n\{/.exec(made.stderr) ?? []
  assert.equal(await asking(secret), 200)

  const listed = await token('list')
  assert.equal(listed.code, 0)
  assert.match(
    listed.stdout,
    new RegExp(`^${id}\t\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\dZ\tnever\t[^\t]+\tplants:read\tthe greenhouse\n$`),
    'piped, tabs are between the fields and no header is above them',
  )
  assert.ok(!listed.stdout.includes(secret))

  const revoked = await token('revoke', id)
  assert.deepEqual([revoked.code, revoked.stdout], [0, ''])
  // In a pipe the audit line follows; `token-audit.test.ts` checks it.
  assert.ok(revoked.stderr.startsWith(`Token ${id} is revoked.\n{`))
  await eventually(async () => (await asking(secret)) === 401, 5_000)
  const again = await token('revoke', id)
  assert.deepEqual([again.code, again.stdout], [1, ''])
  assert.match(
    again.stderr,
    new RegExp(`^plantstore: There is no token ${id}\\. See "plantstore token list"\\.\n$`),
  )
})

test('a token has the scopes for plants by default, and expires on its day', async (test) => {
  const { database } = await startApp(test)
  const run = (...parameters: string[]) => runCommand(test, ['token', ...parameters, '--database', database])
  const month = await run('create', '--expires-in-days', '30', '--label', 'a month')
  assert.match(month.stderr, /with plants:read, plants:write\./)
  const several = await run('create', '--scope', 'plants:read,metrics:read', '--scope', 'tokens:manage')
  assert.match(several.stderr, /with plants:read, metrics:read, tokens:manage\./)
  const { stdout } = await run('list')
  const inAMonth = new Date(Date.now() + 30 * 86_400_000).toISOString().slice(0, 10)
  assert.match(stdout, new RegExp(`\t${inAMonth}T\\d\\d:\\d\\dZ\tnever\tplants:read plants:write\ta month\n`))
  assert.match(stdout, /\tnever\tnever\tplants:read metrics:read tokens:manage\t\n/)
})

test('token list --json prints an object per line, as the API does', async (test) => {
  const app = await startApp(test)
  const run = (...parameters: string[]) =>
    runCommand(test, ['token', ...parameters, '--database', app.database])
  await run('create', '--label', 'greenhouse', '--expires-in-days', '30')
  await run('create', '--scope', 'metrics:read')
  const { code, stdout, stderr } = await run('list', '--json')
  assert.deepEqual([code, stderr], [0, ''])
  const listed = stdout.trimEnd().split('\n')
  const expected = (await (await app.fetch('/tokens')).json()) as object[]
  assert.equal(listed.length, 2)
  assert.deepEqual(
    listed.map((line) => JSON.parse(line)),
    expected,
  )
})

test('an invalid flag of a new token is reported with the valid values', async (test) => {
  const { database } = await startApp(test)
  const missing = join(temporaryFolder(test), 'typo', 'plants.db')
  const cases: [string[], number, RegExp][] = [
    [
      ['create', '--database', database, '--scope', 'plants:raed'],
      2,
      /cannot be 'plants:raed'\. It must be one of plants:read, [^\n]*\n\(Did you mean plants:read\?\)\n$/,
    ],
    [
      ['create', '--database', database, '--scope', 'plants:read,bogus'],
      2,
      /cannot be '[^\n]*bogus[^\n]*'\. It must be one of plants:read, [^\n]*\n$/,
    ],
    [
      ['create', '--database', database, '--expires-in-days', 'soon'],
      2,
      /--expires-in-days <number> cannot be 'soon'\. It must be a whole number from 1 to 99999\.\n$/,
    ],
    [
      ['list', '--database', missing],
      1,
      /There is no database at \S+: name it with --database, or start the service first\.\n$/,
    ],
  ]
  const runs = await Promise.all(cases.map(([parameters]) => runCommand(test, ['token', ...parameters])))
  for (const [at, run] of runs.entries()) {
    const [parameters, code, message] = cases[at] ?? assert.fail()
    assert.deepEqual([run.code, run.stdout], [code, ''], parameters.join(' '))
    assert.match(run.stderr, /^plantstore: /)
    assert.match(run.stderr, message)
  }
  assert.ok(!existsSync(dirname(missing)), 'and nothing is made')
})

test('an expired token is not rotated', async (test) => {
  const app = await startApp(test)
  const expiresAt = new Date(Date.now() + 1_500).toISOString()
  const made = await app.send('POST', '/tokens', JSON.stringify({ scopes: ['plants:read'], expiresAt }))
  const { id } = (await made.json()) as { id: string }
  await eventually(() => Date.now() > Date.parse(expiresAt))
  const rotated = await runCommand(test, ['token', 'rotate', id, '--database', app.database])
  assert.deepEqual([rotated.code, rotated.stdout], [1, ''])
  assert.equal(
    rotated.stderr,
    `plantstore: Token ${id} has expired and cannot be rotated. Create another one with "plantstore token create".\n`,
  )
})

test('a token is rotated while a service runs, with a grace period for the old secret', async (test) => {
  const app = await startApp(test)
  const token = (...parameters: string[]) =>
    runCommand(test, ['token', ...parameters, '--database', app.database])
  const isGood = async (secret: string) =>
    (await app.fetch('/tokens/self', { headers: { authorization: `Bearer ${secret.trim()}` } })).status ===
    200
  const made = await token('create')
  const [, id = ''] = /^Token (\w+) /.exec(made.stderr) ?? []
  const rotated = await token('rotate', id)
  assert.equal(rotated.code, 0)
  assert.match(
    rotated.stderr,
    new RegExp(
      `^Token ${id} is rotated; the old secret expires in 86400 seconds\\. The new one is shown only once:\n\\{`,
    ),
  )
  assert.ok((await isGood(made.stdout)) && (await isGood(rotated.stdout)))
  const again = await token('rotate', id, '--grace-seconds', '0')
  assert.match(again.stderr, /the old secret expires now\./)
  await eventually(async () => !(await isGood(rotated.stdout)), 5_000)
  assert.ok(await isGood(again.stdout))
  const unknown = await token('rotate', 'nobody')
  assert.deepEqual([unknown.code, unknown.stdout], [1, ''])
  assert.match(unknown.stderr, /^plantstore: There is no token nobody\. See "plantstore token list"\.\n$/)
  const wrong = await token('rotate', id, '--grace-seconds', '-1')
  assert.equal(wrong.code, 2)
  assert.match(wrong.stderr, /It must be a whole number from 0 to 2592000\.\n$/)
})

test('a token whose secret cannot be printed is revoked again, with both audit lines', async (test) => {
  const { database } = await startApp(test)
  const words = ['token', 'create', '--label', 'unread', '--database', database]
  const full = promisify(execFile)('sh', [
    '-c',
    'exec "$@" > /dev/full',
    'sh',
    process.execPath,
    MAIN,
    ...words,
  ])
  const closed = startPlantstore(test, words)
  closed.child.stdout?.destroy()
  const { code, stderr } = await full.then(
    () => assert.fail('it succeeded'),
    (error: { code: number; stderr: string }) => error,
  )
  for (const run of [
    { code, stderr },
    { code: await closed.exit, stderr: closed.stderr },
  ]) {
    assert.equal(run.code, 1)
    assert.match(
      run.stderr,
      /^\{.*"token\.created".*\n\{.*"token\.revoked".*\nplantstore: .*is revoked again\.\n$/m,
    )
  }
  const { stdout } = await runCommand(test, ['token', 'list', '--database', database])
  assert.doesNotMatch(stdout, /unread/)
})
