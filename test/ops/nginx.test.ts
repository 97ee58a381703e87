import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { createPlantStoreClient, type ImportProgress } from '../../src/client/plant-store-client.ts'
import { HEADER_BYTES_MAX } from '../../src/http/server/http-server.ts'
import { commandsOn } from '../cli/run-command.ts'
import { eventually } from '../support/eventually.ts'
import { findFreePort } from '../support/free-port.ts'
import { exchange } from '../support/http/raw-http.ts'
import { TOKEN, temporaryFolder } from '../support/http/start-app.ts'
import { START_PATIENCE_MS, startPlantstore } from '../support/process/plantstore-process.ts'

const NGINX = '/usr/sbin/nginx'
const skip = existsSync(NGINX) ? false : `nginx is not tested: there is no ${NGINX}`
const CONFIGURATION = readFileSync(fileURLToPath(new URL('../../deploy/nginx.conf', import.meta.url)), 'utf8')

/** Several megabytes: more than fits into the buffers of nginx and of the connections. */
const ROWS = 60_000
const ROW_TEXT = 'x'.repeat(100)

/** The service on a Unix socket, and nginx in front of it, as it is configured but for its port and paths. */
async function startBehindNginx(t: TestContext, change: (configuration: string) => string = (text) => text) {
  const folder = temporaryFolder(t)
  const socket = join(folder, 'plantstore.sock')
  const service = startPlantstore(t, ['serve'], {
    environment: {
      PLANTSTORE_SOCKET: socket,
      PLANTSTORE_FIXED_TOKEN: TOKEN,
      PLANTSTORE_TRUSTED_PROXIES: 'loopback',
    },
  })
  const port = await findFreePort()
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  )
  const file = join(folder, 'nginx.conf')
  const here = CONFIGURATION.replace('user www-data;', process.getuid?.() === 0 ? 'user root;' : '')
    .replace('/run/nginx.pid', join(folder, 'nginx.pid'))
    .replace('/var/log/nginx/plantstore.log', join(folder, 'access.log'))
    .replace('unix:/run/plantstore/plantstore.sock', `unix:${socket}`)
    .replace('listen 8080;', `listen 127.0.0.1:${port};`)
    .replace('http {', `http {\n${temporary.join('\n')}`)
  writeFileSync(file, change(here))
  const nginx = spawn(NGINX, ['-e', 'stderr', '-c', file, '-g', 'daemon off;'], { stdio: 'ignore' })
  t.after(() => nginx.kill('SIGTERM'))
  const url = `http://127.0.0.1:${port}`
  await eventually(async () => (await fetch(`${url}/readyz`).catch(() => undefined))?.ok, START_PATIENCE_MS)
  return { url, folder, socket, service }
}

for (const buffering of ['off', 'on'])
  test(`imports of several megabytes pass nginx with request buffering ${buffering}`, { skip }, async (t) => {
    const { url, folder } = await startBehindNginx(t, (text) =>
      text.replace('proxy_request_buffering off;', `proxy_request_buffering ${buffering};`),
    )
    const client = createPlantStoreClient({ baseUrl: url, token: TOKEN })
    const lines: number[] = []
    function* plants() {
      for (let id = 1; id <= ROWS; id++) yield { id: BigInt(id), name: ROW_TEXT }
    }
    const onProgress = ({ line }: ImportProgress) => void lines.push(line)
    assert.equal((await client.importPlants(plants(), { onProgress })).created, ROWS)
    assert.equal(lines[0], 1_001)
    const rows = Array.from({ length: ROWS }, (_, at) => `${at + 30_001},${ROW_TEXT}`)
    writeFileSync(join(folder, 'plants.csv'), `id,name\n${rows.join('\n')}\n`)
    const run = await commandsOn(t, { url })(['import', 'plants.csv', '--on-conflict', 'skip'], { folder })
    assert.deepEqual(run, { code: 0, stdout: '30,000 created, 30,000 skipped.\n', stderr: '' })
    const dry = await client.importPlants(plants(), { dryRun: true, onConflict: 'replace' })
    assert.equal(dry.replaced, ROWS)
  })

test('nginx passes long header fields, and reaches the socket by its group', { skip }, async (t) => {
  const { url, socket, service } = await startBehindNginx(t)
  assert.equal(statSync(socket).mode & 0o777, 0o660)
  const headers = { authorization: `Bearer ${TOKEN}`, 'x-long': 'a'.repeat(HEADER_BYTES_MAX - 1024) }
  assert.equal((await fetch(`${url}/plants`, { headers })).status, 200)
  service.child.kill('SIGKILL')
  await service.exit
  const lost = await fetch(`${url}/plants`, { headers })
  assert.equal(lost.status, 502)
  const { error, details } = (await lost.json()) as { error: number; details?: object }
  assert.deepEqual([error, details], [50001, undefined])
  const write = await fetch(`${url}/plants`, { method: 'POST', headers, body: '{"id":1,"name":"x"}' })
  assert.deepEqual(((await write.json()) as { details?: object }).details, { outcome: 'unknown' })
})

test('what nginx rejects by itself gets an Error body', { skip }, async (t) => {
  const { url } = await startBehindNginx(t)
  const fields = 'Host: plants.example\r\nConnection: close\r\n'
  const cases: [request: string, status: number, code: number][] = [
    ['GET /plants HTTP/1.1\r\nConnection: close\r\n\r\n', 400, 40000],
    [`TRACE /plants HTTP/1.1\r\n${fields}\r\n`, 405, 40501],
    [`OPTIONS * HTTP/1.1\r\n${fields}\r\n`, 400, 40000],
    [`GET /plants/%00 HTTP/1.1\r\n${fields}\r\n`, 400, 40000],
    [`GET /../x HTTP/1.1\r\n${fields}\r\n`, 400, 40000],
    [`POST /plants HTTP/1.1\r\n${fields}Transfer-Encoding: gzip\r\n\r\n`, 400, 40000],
    [`GET /${'x'.repeat(40_000)} HTTP/1.1\r\n${fields}\r\n`, 431, 43101],
    [`GET /plants HTTP/1.1\r\n${fields}X-Long: ${'x'.repeat(40_000)}\r\n\r\n`, 431, 43101],
  ]
  for (const [request, status, code] of cases) {
    const { text } = await exchange(Number(new URL(url).port), request)
    const [head = '', body = ''] = text.split('\r\n\r\n')
    assert.match(
      head,
      new RegExp(`^HTTP/1.1 ${status} [^]*\r\nContent-Type: application/json`),
      request.slice(0, 60),
    )
    assert.equal((JSON.parse(body) as { error: number }).error, code, request.slice(0, 60))
  }
})
