import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import fastify from 'fastify'
import { readWebAppBundle } from '../../src/http/routes/web-app-bundle.ts'
import { registerWebRoutes } from '../../src/http/routes/web-app-routes.ts'
import { assertErrorResponse } from '../support/http/error-body.ts'
import { type StartedApp, startApp, temporaryFolder } from '../support/http/start-app.ts'

/** The limit of the bytes before the first render. */
const FIRST_LOAD_BYTES_MAX = 100_000
const ANONYMOUS = { authorization: '' }

/** The paths below /assets/ in the document. */
async function namedFiles(app: StartedApp): Promise<string[]> {
  const html = await (await app.fetch('/', { headers: ANONYMOUS })).text()
  return [...html.matchAll(/="([^"]*\/assets\/[^"]+)"/g)].map(([, path = '']) => path)
}

test('the page runs nothing inline, contacts no other host, and cannot be framed', async (context) => {
  const app = await startApp(context)
  const response = await app.fetch('/', { headers: ANONYMOUS })
  assert.equal(response.headers.get('content-type'), 'text/html; charset=utf-8')
  const policy = response.headers.get('content-security-policy')?.split('; ') ?? []
  for (const rule of [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "connect-src 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "form-action 'none'",
  ]) {
    assert.ok(policy.includes(rule), rule)
  }
  assert.doesNotMatch(policy.join(), /unsafe|\*|http|data:|blob:/)
  assert.equal(response.headers.get('referrer-policy'), 'no-referrer')
  assert.equal(response.headers.get('cache-control'), 'no-cache')
  const html = await response.text()
  assert.doesNotMatch(html, /<script(?![^>]* src=)|<style| style=| on\w+=|https?:\/\/|(?:src|href)="(?!\/)/)
  for (const path of ['/docs', '/openapi.yaml']) assert.ok(html.includes(`href="${path}"`), path)
})

test('an unchanged page is not sent again', async (context) => {
  const app = await startApp(context)
  const etag = (await app.fetch('/')).headers.get('etag') ?? ''
  assert.match(etag, /^".+"$/)
  assert.equal((await app.fetch('/', { headers: { 'if-none-match': etag } })).status, 304)
})

test('its files are cached forever under hashed names, and are small', async (context) => {
  const app = await startApp(context)
  const files = await namedFiles(app)
  assert.deepEqual(files.map((path) => path.slice(path.lastIndexOf('.'))).sort(), ['.css', '.js'])
  let bytes = 0
  for (const path of files) {
    assert.match(path, /^\/assets\/[\w-]+-[\w-]{8}\.(?:js|css)$/)
    const response = await app.fetch(path, { headers: { ...ANONYMOUS, 'accept-encoding': 'gzip' } })
    assert.equal(response.status, 200)
    assert.equal(response.headers.get('cache-control'), 'public, max-age=31536000, immutable')
    assert.equal(response.headers.get('content-encoding'), 'gzip')
    assert.equal(response.headers.get('x-content-type-options'), 'nosniff')
    bytes += Number(response.headers.get('content-length'))
    // Complete, and without references to other hosts.
    assert.doesNotMatch(await response.text(), /sourceMappingURL|url\(http/)
  }
  assert.ok(bytes > 10_000 && bytes < FIRST_LOAD_BYTES_MAX, `${bytes} bytes`)
})

test('below the path of a base URL it refers to its files there', async (context) => {
  const app = await startApp(context, { PLANTSTORE_BASE_URL: 'https://plants.example/my/store' })
  const html = await (await app.fetch('/')).text()
  assert.match(html, /<html lang="en" data-base-path="\/my\/store">/)
  const origin = new URL(app.url).origin
  for (const path of await namedFiles(app)) {
    assert.match(path, /^\/my\/store\/assets\//)
    assert.equal((await fetch(origin + path)).status, 200)
  }
})

test('any other path below /assets/ is not found', async (context) => {
  const app = await startApp(context)
  for (const name of [
    'none.js',
    'manifest.json',
    '..%2fmanifest.json',
    '%2e%2e%2fmanifest.json',
    '__proto__',
  ]) {
    await assertErrorResponse(await app.fetch(`/assets/${name}`, { headers: ANONYMOUS }), 404, 40401)
  }
})

test('a page that is not built is reported, and served once it is built', async (context) => {
  const folder = temporaryFolder(context)
  const url = await serveFolder(context, folder)
  const missing = await fetch(url)
  assert.equal(missing.status, 200)
  const html = await missing.text()
  assert.match(html, /has not been built\. .*<code>npm ci<\/code> and\s<code>npm run web-app<\/code>/)
  assert.ok(html.includes('href="/docs"'))

  mkdirSync(join(folder, 'assets'))
  writeFileSync(join(folder, 'assets/main-1.js'), 'export {}')
  writeFileSync(
    join(folder, 'manifest.json'),
    '{"main.tsx":{"file":"assets/main-1.js","isEntry":true,"css":[]}}',
  )
  assert.match(await (await fetch(url)).text(), /<script src="\/assets\/main-1\.js" type="module">/)
  assert.equal(await (await fetch(`${url}/assets/main-1.js`)).text(), 'export {}')
})

async function serveFolder(context: TestContext, folder: string): Promise<string> {
  const app = fastify()
  const readBundle = () => readWebAppBundle(pathToFileURL(`${folder}/`))
  registerWebRoutes(app, { basePath: '', openApi: {}, readBundle })
  context.after(() => app.close())
  return app.listen({ host: '127.0.0.1', port: 0 })
}
