import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createPlantStoreClient } from '../../src/client/plant-store-client.ts'
import { type Lifetime, type StartedApp, startApp, TOKEN } from '../support/http/start-app.ts'
import { HAPROXY, NGINX, nginxConfiguration, skipWithout, startProxy } from '../support/process/proxies.ts'

// A proxy that compresses a response weakens its ETag (RFC 9110 §8.8.1): "1" becomes W/"1".

function startNginx(t: Lifetime, app: StartedApp): Promise<string> {
  return startProxy(t, NGINX, (port, folder) =>
    nginxConfiguration(
      port,
      folder,
      `gzip on;
      gzip_types application/json;
      gzip_min_length 0;
      location / { proxy_http_version 1.1; proxy_pass ${app.url}; }`,
    ),
  )
}

function startHaproxy(t: Lifetime, app: StartedApp): Promise<string> {
  return startProxy(
    t,
    HAPROXY,
    (port) => `
defaults
  mode http
  timeout client 10s
  timeout server 10s
  timeout connect 2s
listen plants
  bind 127.0.0.1:${port}
  compression algo gzip
  compression type application/json
  server plantstore 127.0.0.1:${app.port}
`,
  )
}

for (const [name, program, start] of [
  ['nginx', NGINX, startNginx],
  ['HAProxy', HAPROXY, startHaproxy],
] as const) {
  test(`preconditions work behind ${name} that compresses`, { skip: skipWithout(program) }, async (t) => {
    const app = await startApp(t)
    const url = await start(t, app)
    const send = (method: string, headers: Record<string, string> = {}, body?: object) =>
      fetch(`${url}/plants/1`, {
        method,
        headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json', ...headers },
        ...(body && { body: JSON.stringify(body) }),
      })
    await send('PUT', {}, { name: 'Rosa' })
    const read = await send('GET')
    const stale = read.headers.get('etag') ?? ''
    assert.equal(read.headers.get('content-encoding'), 'gzip')
    assert.match(stale, /^W\/"[0-9]+"$/, 'the proxy weakens the ETag')
    assert.equal((await send('GET', { 'if-none-match': stale })).status, 304)
    const updated = await send('PATCH', { 'if-match': stale }, { name: 'Rosa canina' })
    assert.equal(updated.status, 200)
    for (const method of ['PUT', 'PATCH']) {
      assert.equal((await send(method, { 'if-match': stale }, { name: 'lost' })).status, 412)
    }
    assert.equal((await send('DELETE', { 'if-match': stale })).status, 412)
    assert.equal((await send('GET', { 'if-none-match': stale })).status, 200)
    const current = updated.headers.get('etag') ?? ''
    assert.equal((await send('DELETE', { 'if-match': current })).status, 204)
  })

  test(`the client updates a plant behind ${name} that compresses`, {
    skip: skipWithout(program),
  }, async (t) => {
    const app = await startApp(t)
    const client = createPlantStoreClient({ baseUrl: await start(t, app), token: TOKEN })
    const direct = createPlantStoreClient({ baseUrl: app.url, token: TOKEN })
    await client.createPlant({ id: 1n, name: 'Rosa' })
    const plant = await client.getPlant(1n)
    assert.ok(plant !== undefined)
    assert.deepEqual(await direct.getPlant(1n), plant, 'the ETag is the same with and without the proxy')
    assert.equal(await client.getPlant(1n, { ifNoneMatch: plant.etag }), 'unchanged')
    const updated = await client.updatePlant(1n, { name: 'Rosa canina' }, { ifMatch: plant.etag })
    await assert.rejects(client.updatePlant(1n, { name: 'lost' }, { ifMatch: plant.etag }), { code: 41201 })
    assert.equal(await client.deletePlant(1n, { ifMatch: updated.etag }), true)
  })
}
