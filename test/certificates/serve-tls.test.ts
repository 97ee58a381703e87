import assert from 'node:assert/strict'
import { copyFileSync } from 'node:fs'
import { Agent, get } from 'node:https'
import { connect as connectPlainly } from 'node:net'
import { type TestContext, test } from 'node:test'
import { connect, type TLSSocket } from 'node:tls'
import { makeCertificate, trustCertificate } from '../support/certificates.ts'
import { eventually } from '../support/eventually.ts'
import { assertErrorResponse } from '../support/http/error-body.ts'
import { exchange } from '../support/http/raw-http.ts'
import { startApp, TOKEN } from '../support/http/start-app.ts'
import { openWire } from '../support/http/wire.ts'
import { runPlantstore, startServe } from '../support/process/plantstore-process.ts'

const STRICT = 'max-age=31536000'

test('every response over TLS has Strict-Transport-Security, also errors', async (test) => {
  const certificate = makeCertificate(test)
  trustCertificate(certificate)
  const app = await startApp(test, certificate.settings)
  assert.match(app.url, /^https:/)
  for (const path of ['/healthz', '/plants?limit=1', '/nothing', '/', '/openapi.json']) {
    assert.equal((await app.fetch(path)).headers.get('strict-transport-security'), STRICT, path)
  }
  const wire = await openWire(test, app.port, { isSecure: true })
  wire.send('no HTTP\r\n\r\n')
  const response = await wire.response()
  await assertErrorResponse(response, 400, 40000)
  assert.equal(response.headers['strict-transport-security'], STRICT)
  const plain = await startApp(test)
  assert.equal((await plain.fetch('/healthz')).headers.get('strict-transport-security'), null)
})

test('plain HTTP and other bytes on the TLS port close the connection, and are logged only at debug', async (test) => {
  const app = await startApp(test, {
    ...makeCertificate(test).settings,
    PLANTSTORE_LOG_LEVEL: 'debug',
  })
  app.log.length = 0
  for (const bytes of ['GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n', '\0\0\0\0\0\0\0\0']) {
    const { text, isClosed } = await exchange(app.port, bytes)
    assert.ok(isClosed)
    assert.doesNotMatch(text, /HTTP/)
  }
  await eventually(() => app.log.length >= 2)
  for (const { level, msg } of app.log) assert.deepEqual([level, msg], [20, 'a TLS handshake failed'])
})

test('a client that supports only HTTP/2 is rejected, and one that supports both gets HTTP/1.1', async (test) => {
  const { ca, settings } = makeCertificate(test)
  const { port } = await startApp(test, settings)
  const offer = (ALPNProtocols: string[]) =>
    new Promise<string | false | null>((resolve, reject) => {
      const socket = connect({ port, host: '127.0.0.1', ca, ALPNProtocols }, () => {
        resolve(socket.alpnProtocol)
        socket.destroy()
      })
      socket.once('error', reject)
    })
  assert.equal(await offer(['h2', 'http/1.1']), 'http/1.1')
  await assert.rejects(offer(['h2']), /no.application.protocol/i)
})

test('a stop does not wait for incomplete handshakes', async (test) => {
  const certificate = makeCertificate(test)
  trustCertificate(certificate)
  const app = await startApp(test, { ...certificate.settings, PLANTSTORE_SHUTDOWN_TIMEOUT_MS: '3600000' })
  const silent = connectPlainly(app.port, '127.0.0.1')
  test.after(() => void silent.destroy())
  const closed = new Promise((resolve) => silent.on('error', () => {}).once('close', resolve))
  await new Promise((resolve) => silent.once('connect', resolve))
  // By then the service has accepted the previous connection.
  assert.equal((await app.fetch('/healthz', { headers: { connection: 'close' } })).status, 200)
  await app.stop()
  await closed
})

test('a certificate without its key, or with a Unix socket, is rejected', async (test) => {
  const { certFile, keyFile, settings } = makeCertificate(test)
  await assert.rejects(startApp(test, { PLANTSTORE_TLS_CERT: certFile }), {
    message: /^PLANTSTORE_TLS_CERT needs PLANTSTORE_TLS_KEY/,
  })
  await assert.rejects(startApp(test, { PLANTSTORE_TLS_KEY: keyFile }), {
    message: /^PLANTSTORE_TLS_KEY needs PLANTSTORE_TLS_CERT:/,
  })
  await assert.rejects(startApp(test, { ...settings, PLANTSTORE_SOCKET: '/tmp/plants.sock' }), {
    message: /takes no TLS/,
  })
})

/** Sends a request. Returns its status and the serial number of the certificate. */
function ask(port: number, agent: Agent, ca: string[]): Promise<{ status: number; serial: string }> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${TOKEN}` }
    const request = get(
      { port, host: '127.0.0.1', path: '/plants?limit=1', agent, ca, headers },
      (response) => {
        const serial = (response.socket as TLSSocket).getPeerCertificate().serialNumber
        response.resume().once('end', () => resolve({ status: response.statusCode ?? 0, serial }))
      },
    )
    request.once('error', reject)
  })
}

async function startLoad(test: TestContext, port: number, ca: string[]) {
  const kept = new Agent({ keepAlive: true, maxSockets: 1 })
  // A full handshake for each request: a resumed session has the old certificate.
  const fresh = new Agent({ keepAlive: false, maxCachedSessions: 0 })
  let isOver = false
  const serials = { kept: [] as string[], fresh: [] as string[] }
  const loop = async (agent: Agent, serials: string[]) => {
    while (!isOver) {
      const { status, serial } = await ask(port, agent, ca)
      assert.equal(status, 200)
      serials.push(serial)
    }
  }
  const loops = Promise.all([
    loop(kept, serials.kept),
    loop(fresh, serials.fresh),
    loop(fresh, serials.fresh),
  ])
  // Awaited below, but it may fail earlier.
  loops.catch(() => {})
  const end = async () => {
    isOver = true
    await loops
    kept.destroy()
  }
  test.after(() => {
    isOver = true
  })
  return { serials, end }
}

test('SIGHUP renews the certificate under load: no request is lost, and open connections stay', async (test) => {
  const [first, second] = [makeCertificate(test), makeCertificate(test)]
  const wrong = makeCertificate(test)
  const service = await startServe(test, { environment: { ...first.settings } as Record<string, string> })
  const { serials, end } = await startLoad(test, service.port, [first.ca, second.ca])
  await eventually(() => serials.fresh.length > 20 && serials.kept.length > 20)
  copyFileSync(wrong.keyFile, first.keyFile)
  service.child.kill('SIGHUP')
  await eventually(() => service.stderr.includes('does not belong'))
  copyFileSync(second.certFile, first.certFile)
  copyFileSync(second.keyFile, first.keyFile)
  service.child.kill('SIGHUP')
  await eventually(() => service.stderr.includes('a new certificate is in use'))
  const [keptBefore, freshBefore] = [serials.kept.length, serials.fresh.length]
  await eventually(() => serials.fresh.length > freshBefore + 20 && serials.kept.length > keptBefore + 20)
  await end()
  assert.equal(new Set(serials.kept).size, 1, 'the open connection keeps its first certificate')
  assert.equal(new Set(serials.fresh).size, 2)
  assert.notEqual(serials.fresh.at(-1), serials.kept.at(-1))
  service.child.kill('SIGTERM')
  assert.equal(await service.exit, 0)
})

test('SIGHUP without a certificate is only logged', async (test) => {
  const service = await startServe(test)
  service.child.kill('SIGHUP')
  await eventually(() => service.stderr.includes('there is no certificate'))
  assert.equal((await fetch(`${service.url}/healthz`)).status, 200)
  service.child.kill('SIGTERM')
  assert.equal(await service.exit, 0)
})

test('the command line trusts only a service whose certificate is in NODE_EXTRA_CA_CERTS', async (test) => {
  const { certFile, settings } = makeCertificate(test)
  const { url } = await startApp(test, settings)
  const environment = { PLANTSTORE_URL: url, PLANTSTORE_TOKEN: TOKEN }
  const trusting = { ...environment, NODE_EXTRA_CA_CERTS: certFile }
  const added = await runPlantstore(test, ['create', '1', 'Quercus robur'], { environment: trusting })
  assert.equal(added.code, 0, added.stderr)
  const message = `plantstore: The certificate of ${url} is not trusted. Set NODE_EXTRA_CA_CERTS to its file, or to that of its issuer.\n`
  for (const words of [
    ['get', '1'],
    ['delete', '1'],
  ]) {
    const { code, stderr } = await runPlantstore(test, words, { environment })
    assert.deepEqual([code, stderr], [1, message])
  }
})
