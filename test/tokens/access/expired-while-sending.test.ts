import assert from 'node:assert/strict'
import { after, type TestContext, test } from 'node:test'
import { eventually } from '../../support/eventually.ts'
import { startApp } from '../../support/http/start-app.ts'
import { openWire, requestText, type Wire } from '../../support/http/wire.ts'

const app = await startApp({ after })

interface Made {
  id: string
  token: string
}

async function make(...scopes: string[]): Promise<Made> {
  return (await (await app.send('POST', '/tokens', JSON.stringify({ scopes }))).json()) as Made
}

async function revoke({ id }: Made): Promise<void> {
  assert.equal((await app.fetch(`/tokens/${id}`, { method: 'DELETE' })).status, 204)
}

const rotateSelf = (token: string, json: string) =>
  app.send('POST', '/tokens/self/rotate', json, { authorization: `Bearer ${token}` })

/** Sends a request except the last byte of its body, which `last` sends; it is authorized by then. */
async function beginSending(
  t: TestContext,
  line: string,
  { token }: Made,
  body: string,
): Promise<Wire & { last(): void }> {
  const wire = await openWire(t, app.port)
  const fields = { Authorization: `Bearer ${token}`, Expect: '100-continue' }
  wire.send(requestText(line, fields, body).slice(0, -body.length))
  assert.equal((await wire.response()).status, 100)
  wire.send(body.slice(0, -1))
  return Object.assign(wire, { last: () => wire.send(body.slice(-1)) })
}

async function assertRejected(wire: Wire, status = 401, error = 40102): Promise<void> {
  const response = await wire.response()
  assert.equal(response.status, status, response.body)
  assert.equal(JSON.parse(response.body).error, error)
  assert.match(response.headers['www-authenticate'] ?? '', /^Bearer realm="plantstore", error="/)
}

test('a token that is revoked while a body is being sent has no effect any more', async (t) => {
  const leaked = await make('tokens:manage', 'plants:write')
  const requests = [
    await beginSending(t, 'POST /tokens', leaked, '{"scopes":["tokens:manage"]}'),
    await beginSending(t, 'POST /plants', leaked, '{"id":1,"name":"Oak"}'),
    await beginSending(t, 'PUT /plants/1', leaked, '{"name":"Oak"}'),
    await beginSending(t, 'POST /tokens/self/rotate', leaked, '{"graceSeconds":0}'),
  ]
  const tokensBefore = await (await app.fetch('/tokens')).json()
  await revoke(leaked)
  for (const request of requests) {
    request.last()
    await assertRejected(request)
  }
  assert.equal((await app.fetch('/plants/1')).status, 404)
  assert.equal(
    ((await (await app.fetch('/tokens')).json()) as unknown[]).length,
    (tokensBefore as unknown[]).length - 1,
  )
})

test('a token that is rotated during its own rotation cannot take over the new secret', async (t) => {
  for (const [graceSeconds, status, error] of [
    [0, 401, 40102],
    [60, 403, 40301],
  ] as const) {
    const leaked = await make('plants:read')
    const request = await beginSending(t, 'POST /tokens/self/rotate', leaked, '{"graceSeconds":0}')
    const owner = (await (await rotateSelf(leaked.token, `{"graceSeconds":${graceSeconds}}`)).json()) as Made
    request.last()
    await assertRejected(request, status, error)
    const self = await app.fetch('/tokens/self', { headers: { authorization: `Bearer ${owner.token}` } })
    assert.equal(self.status, 200)
  }
})

test('the revocation of a token aborts its import, and the error has the rows before it', async (t) => {
  const leaked = await make('plants:write')
  const wire = await openWire(t, app.port)
  const fields = {
    Authorization: `Bearer ${leaked.token}`,
    'Content-Type': 'application/x-ndjson',
    'Transfer-Encoding': 'chunked',
  }
  const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`
  wire.send(requestText('POST /plants/import', fields), chunk('{"id":11,"name":"Oak"}\n'))
  await eventually(async () => (await app.fetch('/plants/11')).ok)
  await revoke(leaked)
  wire.send(chunk('{"id":12,"name":"Elm"}\n'))
  const response = await wire.response()
  assert.equal(response.status, 401, response.body)
  const { error, details } = JSON.parse(response.body)
  assert.equal(error, 40102)
  assert.deepEqual([details.line, details.counts.created, details.outcome], [2, 1, 'stored-before-line'])
  assert.match(response.headers['www-authenticate'] ?? '', /error="invalid_token"/)
  assert.equal((await app.fetch('/plants/12')).status, 404)
})
