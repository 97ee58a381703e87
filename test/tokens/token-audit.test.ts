import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { eventually } from '../support/eventually.ts'
import { type StartedApp, startApp, TOKEN } from '../support/http/start-app.ts'

type Line = Record<string, unknown>
interface Made {
  id: string
  token: string
}

const auditOf = ({ log }: Pick<StartedApp, 'log'>): Line[] => log.filter(({ audit }) => audit === true)
const run = promisify(execFile)

test('a token that is made, rotated or revoked leaves a line with who did it, and never a token', async (context) => {
  const app = await startApp(context)
  const wanted = {
    label: 'greenhouse plst_lostsecret',
    scopes: ['tokens:manage'],
    expiresAt: '2099-01-01T00:00:00Z',
  }
  const made = await app.send('POST', '/tokens', JSON.stringify(wanted))
  const { id, token } = (await made.json()) as Made
  const authorization = `Bearer ${token}`
  const rotated = await app.fetch(`/tokens/self/rotate`, { method: 'POST', headers: { authorization } })
  const { token: secondToken } = (await rotated.json()) as Made
  const revoked = await app.fetch(`/tokens/${id}`, { method: 'DELETE' })
  assert.equal((await app.fetch(`/tokens/${id}`, { method: 'DELETE' })).status, 404)

  const what = {
    label: 'greenhouse plst_***',
    scopes: ['tokens:manage'],
    expiresAt: '2099-01-01T00:00:00.000Z',
  }
  const common = { level: 30, audit: true, tokenId: id, clientAddress: '127.0.0.1' }
  assert.deepEqual(
    auditOf(app).map(({ time: _time, pid: _pid, hostname: _hostname, ...line }) => line),
    [
      { ...common, event: 'token.created', ...what, callerId: 'configured', msg: 'token created' },
      { ...common, event: 'token.rotated', ...what, callerId: id, msg: 'token rotated' },
      { ...common, event: 'token.revoked', callerId: 'configured', msg: 'token revoked' },
    ].map((line, at) => ({ ...line, requestId: [made, rotated, revoked][at]?.headers.get('x-request-id') })),
  )
  const text = JSON.stringify(app.log)
  for (const secret of [token, secondToken, TOKEN, 'lostsecret']) assert.ok(!text.includes(secret))
})

test('a token that is refused leaves a warning with the reason, where it came from, and whose it is if that is known', async (context) => {
  const app = await startApp(context)
  const { id, token } = (await (
    await app.send('POST', '/tokens', '{"scopes":["plants:read"]}')
  ).json()) as Made
  const unknown = await app.fetch('/plants', { headers: { authorization: 'Bearer plst_unknown' } })
  const scopeless = await app.send('POST', '/plants', '{}', { authorization: `Bearer ${token}` })
  await app.fetch('/plants', { headers: { authorization: '' } })
  const refused = auditOf(app).filter(({ event }) => event === 'token.rejected')
  assert.deepEqual(
    refused.map(({ level, error, tokenId, requestId, clientAddress }) => [
      level,
      error,
      tokenId,
      requestId,
      clientAddress,
    ]),
    [
      [40, 40102, undefined, unknown.headers.get('x-request-id'), '127.0.0.1'],
      [40, 40301, id, scopeless.headers.get('x-request-id'), '127.0.0.1'],
    ],
  )
  assert.match(String(refused[0]?.reason), /unknown/)
  assert.match(String(refused[1]?.reason), /scope plants:write/)
  assert.ok(!JSON.stringify(app.log).includes('plst_unknown'))
})

test('so does a secret that was replaced and would be made good again', async (context) => {
  const app = await startApp(context)
  const made = await app.send('POST', '/tokens', '{"scopes":["plants:read"]}')
  const { id, token } = (await made.json()) as Made
  const rotateSelf = () =>
    app.fetch('/tokens/self/rotate', { method: 'POST', headers: { authorization: `Bearer ${token}` } })
  assert.equal((await rotateSelf()).status, 200)
  const again = await rotateSelf()
  assert.equal(again.status, 403)
  const refused = auditOf(app).find(({ event }) => event === 'token.rejected')
  assert.deepEqual(
    [refused?.level, refused?.error, refused?.tokenId, refused?.requestId],
    [40, 40301, id, again.headers.get('x-request-id')],
  )
  assert.match(String(refused?.reason), /was replaced/)
})

test('a flood of bad tokens leaves ten lines a second, and the number of the others', async (context) => {
  const app = await startApp(context, { PLANTSTORE_FAILED_AUTHENTICATIONS_MAX: '0' })
  const sent = 200
  const beganMs = performance.now()
  await Promise.all(
    Array.from({ length: sent }, (_, at) =>
      app.fetch('/plants', { headers: { authorization: `Bearer wrong${at}` } }),
    ),
  )
  const seconds = Math.ceil((performance.now() - beganMs) / 1000)
  await app.stop()
  const lines = auditOf(app)
  const suppressed = lines.reduce((sum, line) => sum + Number(line.suppressed ?? 0), 0)
  const told = lines.filter((line) => line.suppressed === undefined)
  assert.ok(told.length >= 10 && told.length <= 10 * (seconds + 1), `${told.length} lines in ${seconds} s`)
  assert.ok(lines.length - told.length >= 1)
  assert.equal(told.length + suppressed, sent)
})

test('what was left out of a flood is told when the second is over, also if nothing follows', async (context) => {
  const app = await startApp(context)
  await Promise.all(
    Array.from({ length: 30 }, () => app.fetch('/plants', { headers: { authorization: 'Bearer wrong' } })),
  )
  const line = await eventually(() => auditOf(app).find(({ suppressed }) => suppressed !== undefined))
  assert.equal(line.event, 'token.rejected')
})

test('the first token leaves a line, too', async (context) => {
  const app = await startApp(context, { PLANTSTORE_FIXED_TOKEN: '' })
  const [line] = auditOf(app)
  assert.equal(line?.event, 'token.created')
  assert.equal(line?.by, 'first start')
  assert.equal(auditOf(app).length, 1)
})

test('the command line leaves the same lines on its standard error where that is piped', async (context) => {
  const app = await startApp(context)
  const command = async (...words: string[]) => {
    const { stdout, stderr } = await run(
      process.execPath,
      ['src/cli/main.ts', 'token', ...words, '--database', app.database],
      { cwd: new URL('../..', import.meta.url) },
    )
    const line = stderr.split('\n').find((text) => text.startsWith('{')) ?? '{}'
    assert.ok(stdout === '' || !stderr.includes(stdout.trim()))
    return JSON.parse(line) as Line
  }
  const made = await command('create', '--label', 'cron', '--scope', 'metrics:read')
  assert.deepEqual(
    [made.event, made.label, made.by, made.audit],
    ['token.created', 'cron', 'command line', true],
  )
  const id = String(made.tokenId)
  for (const verb of ['rotate', 'revoke']) {
    const line = await command(verb, id)
    assert.deepEqual(
      [line.event, line.tokenId, line.by],
      [`token.${verb === 'rotate' ? 'rotated' : 'revoked'}`, id, 'command line'],
    )
  }
})
