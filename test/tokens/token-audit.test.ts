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

test('creating, rotating or revoking a token logs a line with the caller, and never a secret', async (context) => {
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

test('a rejected token logs a warning with the reason, the client address and the id of a known token', async (context) => {
  const app = await startApp(context)
  const { id, token } = (await (
    await app.send('POST', '/tokens', '{"scopes":["plants:read"]}')
  ).json()) as Made
  const unknown = await app.fetch('/plants', { headers: { authorization: 'Bearer plst_unknown' } })
  const scopeless = await app.send('POST', '/plants', '{}', { authorization: `Bearer ${token}` })
  await app.fetch('/plants', { headers: { authorization: '' } })
  const rejected = auditOf(app).filter(({ event }) => event === 'token.rejected')
  assert.deepEqual(
    rejected.map(({ level, error, tokenId, requestId, clientAddress }) => [
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
  assert.match(String(rejected[0]?.reason), /unknown/)
  assert.match(String(rejected[1]?.reason), /scope plants:write/)
  assert.ok(!JSON.stringify(app.log).includes('plst_unknown'))
})

test('an old secret that tries to rotate itself logs a warning', async (context) => {
  const app = await startApp(context)
  const made = await app.send('POST', '/tokens', '{"scopes":["plants:read"]}')
  const { id, token } = (await made.json()) as Made
  const rotateSelf = () =>
    app.fetch('/tokens/self/rotate', { method: 'POST', headers: { authorization: `Bearer ${token}` } })
  assert.equal((await rotateSelf()).status, 200)
  const again = await rotateSelf()
  assert.equal(again.status, 403)
  const rejected = auditOf(app).find(({ event }) => event === 'token.rejected')
  assert.deepEqual(
    [rejected?.level, rejected?.error, rejected?.tokenId, rejected?.requestId],
    [40, 40301, id, again.headers.get('x-request-id')],
  )
  assert.match(String(rejected?.reason), /was replaced/)
})

test('a flood of wrong tokens logs ten lines a second, and the number of suppressed ones', async (context) => {
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
  const logged = lines.filter((line) => line.suppressed === undefined)
  assert.ok(
    logged.length >= 10 && logged.length <= 10 * (seconds + 1),
    `${logged.length} lines in ${seconds} s`,
  )
  assert.ok(lines.length - logged.length >= 1)
  assert.equal(logged.length + suppressed, sent)
})

test('the number of suppressed lines is logged at the end of the second, even if nothing follows', async (context) => {
  const app = await startApp(context)
  await Promise.all(
    Array.from({ length: 30 }, () => app.fetch('/plants', { headers: { authorization: 'Bearer wrong' } })),
  )
  const line = await eventually(() => auditOf(app).find(({ suppressed }) => suppressed !== undefined))
  assert.equal(line.event, 'token.rejected')
})

test('the first token logs a line, too', async (context) => {
  const app = await startApp(context, { PLANTSTORE_FIXED_TOKEN: '' })
  const [line] = auditOf(app)
  assert.equal(line?.event, 'token.created')
  assert.equal(line?.by, 'first start')
  assert.equal(auditOf(app).length, 1)
})

test('the command line writes the same lines to standard error if that is piped', async (context) => {
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
