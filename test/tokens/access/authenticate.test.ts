import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { readConfig } from '../../../src/config/read-config.ts'
import { openStorage } from '../../../src/storage/open-storage.ts'
import { generateToken } from '../../../src/tokens/token.ts'
import { assertErrorResponse } from '../../support/http/error-body.ts'
import { startApp, TOKEN, temporaryFolder } from '../../support/http/start-app.ts'
import { openWire, requestText } from '../../support/http/wire.ts'

const app = await startApp({ after })
const storage = await openStorage(join(temporaryFolder({ after }), 'plants.db'), readConfig({}, {}))
after(() => storage.close())

const asking = (authorization: string, path = '/plants') => app.fetch(path, { headers: { authorization } })

async function challengeOf(response: Response): Promise<string | null> {
  await response.arrayBuffer()
  return response.headers.get('www-authenticate')
}

test('the challenge without a token has only the scheme (RFC 6750 §3)', async () => {
  for (const authorization of ['', 'Basic dXNlcjpwYXNz', 'Token abc', `Bearerx ${TOKEN}`, TOKEN]) {
    const response = await asking(authorization)
    await assertErrorResponse(response, 401, 40101)
    assert.equal(response.headers.get('www-authenticate'), 'Bearer realm="plantstore"', authorization)
  }
})

test('an unknown, malformed or missing token is invalid_token', async () => {
  const wrong = [
    `Bearer ${generateToken()}`,
    `Bearer ${TOKEN}x`,
    `Bearer ${TOKEN.slice(0, -1)}`,
    `Bearer ${TOKEN.toUpperCase()}`,
    `Bearer ${TOKEN} ${TOKEN}`,
    `Bearer ${TOKEN},`,
    `Bearer "${TOKEN}"`,
    `Bearer\t${TOKEN}`,
    `Bearer ${TOKEN}=`,
    'Bearer',
    'Bearer constructor',
    'Bearer __proto__',
    'Bearer null',
    `Bearer ${'x'.repeat(10_000)}`,
    "Bearer ' OR 1=1 --",
  ]
  for (const authorization of wrong) {
    const response = await asking(authorization)
    const code = authorization === `Bearer\t${TOKEN}` ? 40101 : 40102
    await assertErrorResponse(response, 401, code)
    if (code === 40102) {
      assert.equal(
        response.headers.get('www-authenticate'),
        'Bearer realm="plantstore", error="invalid_token"',
      )
    }
  }
})

test('the scheme may be written in any case, with up to 8 spaces after it (RFC 9110 §11.4)', async () => {
  const spaces = ' '.repeat(8)
  for (const authorization of [`bearer ${TOKEN}`, `BEARER  ${TOKEN}`, `Bearer${spaces}${TOKEN}`]) {
    assert.equal((await asking(authorization)).status, 200, authorization)
  }
  await assertErrorResponse(await asking(`Bearer ${spaces}${TOKEN}`), 401, 40102)
})

test('the message about an empty token says where to look', async () => {
  for (const authorization of ['Bearer', 'bearer ', 'Bearer  ']) {
    const message = await assertErrorResponse(await asking(authorization), 401, 40102)
    assert.equal(message, 'There is no token after Bearer. Check the variable that contains it.')
  }
})

test('two Authorization fields are rejected, even if both have the same valid token', async (test) => {
  const wire = await openWire(test, app.port)
  const line = `Authorization: Bearer ${TOKEN}\r\n`
  wire.send(`GET /plants HTTP/1.1\r\nHost: a\r\n${line}${line}\r\n`)
  await assertErrorResponse(await wire.response(), 401, 40102)
  wire.send(`GET /plants HTTP/1.1\r\nHost: a\r\nAuthorization: Basic eA==\r\n${line}\r\n`)
  await assertErrorResponse(await wire.response(), 401, 40101)
  await wire.assertUsable()
})

test('a token in the query or the body is ignored', async () => {
  await assertErrorResponse(await asking('', `/plants?access_token=${TOKEN}`), 401, 40101)
  const response = await app.fetch('/plants', {
    method: 'POST',
    headers: { authorization: '', 'content-type': 'application/x-www-form-urlencoded' },
    body: `access_token=${TOKEN}`,
  })
  await assertErrorResponse(response, 401, 40101)
})

test('the error for a token without the scope names the missing scope', async () => {
  const made = await app.send('POST', '/tokens', '{"scopes":["metrics:read"]}')
  const { token } = (await made.json()) as { token: string }
  const response = await asking(`Bearer ${token}`)
  assert.equal(
    await challengeOf(response),
    'Bearer realm="plantstore", error="insufficient_scope", scope="plants:read"',
  )
  assert.match(await assertErrorResponse(await asking(`Bearer ${token}`), 403, 40301), /scope plants:read/)
})

test('an unknown path is 401 without a token, and 404 with any token', async () => {
  const made = await app.send('POST', '/tokens', '{"scopes":["metrics:read"]}')
  const { token } = (await made.json()) as { token: string }
  for (const path of ['/nothing', '/plants/1/2', '/%zz', '//plants', `/${'x'.repeat(500)}`]) {
    await assertErrorResponse(await asking('', path), 401, 40101)
    await assertErrorResponse(await asking('Bearer wrong', path), 401, 40102)
    if (path !== '/%zz') await assertErrorResponse(await asking(`Bearer ${token}`, path), 404, 40401)
  }
  await assertErrorResponse(await asking(`Bearer ${token}`, '/%zz'), 400, 40004)
})

test('the token is checked before anything else of a request', async (test) => {
  const wire = await openWire(test, app.port)
  wire.send(requestText('POST /plants/x?y', { Authorization: '', 'Content-Type': 'a/b' }, '{'))
  await assertErrorResponse(await wire.response(), 401, 40101)
  wire.send(requestText('PURGE /plants', { Authorization: 'Bearer wrong' }))
  await assertErrorResponse(await wire.response(), 401, 40102)
})
