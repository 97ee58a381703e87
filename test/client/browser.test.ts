import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { openChromium, chromiumMissing as skip } from '../support/browser/chromium.ts'
import { startApp, TOKEN } from '../support/http/start-app.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** What a page does with the client. Ids come back as texts: what leaves the page is JSON. */
const PROGRAM = `
import { createPlantStoreClient, RequestError } from './src/client/plant-store-client.ts'

globalThis.use = async (token) => {
  const client = createPlantStoreClient({ baseUrl: location.origin, token })
  const id = 9007199254740993n
  const { etag } = await client.createPlant({ id, name: 'Açaí palm', tag: 'palm' })
  const read = await client.getPlant(id)
  const unchanged = await client.getPlant(id, { ifNoneMatch: etag })
  const taken = await client.createPlant({ id, name: 'b' }).catch((error) => error)
  const errors = []
  const many = (async function* () {
    for (let at = 0n; at < 3n; at++) yield { id: id + at, name: 'plant ' + at }
  })()
  const report = await client.importPlants(many, { onError: ({ line, id }) => errors.push([line, String(id)]) })
  const file = new Blob(['id,name\\n-9007199254740993,a\\n'])
  // Its response comes later than that: a browser does not report the progress of an upload.
  const fromFile = await client.importPlants(file, { format: 'csv', timeoutMs: 200 })
  const exported = []
  for await (const plant of client.exportPlants()) exported.push(String(plant.id))
  const listed = []
  for await (const plant of client.listPlants({ pageSize: 2 })) listed.push(String(plant.id))
  const csv = await new Response(await client.exportPlants({ format: 'csv', tag: 'palm' })).text()
  const rejected = await createPlantStoreClient({ baseUrl: location.origin, token: 'no' })
    .importPlants([{ id: 1n, name: 'a' }]).catch((error) => error)
  return {
    id: String(read.id), etag: read.etag === etag, unchanged,
    taken: [taken instanceof RequestError, taken.code, taken.requestId.length > 0],
    created: [report.created, fromFile.created], errors, exported, listed, csv: csv.slice(0, 60),
    rejected: [rejected.kind, rejected.code], gone: await client.deletePlant(id),
  }
}
`

test('the client works in a browser', { skip }, async (context) => {
  const app = await startApp(context)
  const { outputFiles } = await build({
    stdin: { contents: PROGRAM, resolveDir: ROOT, loader: 'js' },
    bundle: true,
    format: 'iife',
    platform: 'browser',
    write: false,
  })
  const browser = await openChromium()
  context.after(() => browser.close())
  const page = await browser.newPage()
  const faults: string[] = []
  page.on('pageerror', (error) => faults.push(String(error)))
  // A page of the service's own origin, as one that is served beside it would be.
  await page.route(`${app.url}/page`, (route) =>
    route.fulfill({ contentType: 'text/html', body: '<!doctype html><title>A page</title>' }),
  )
  await page.route(/\/plants\/import/, async (route) => {
    await new Promise((resolve) => setTimeout(resolve, 500))
    await route.continue()
  })
  await page.goto(`${app.url}/page`)
  await page.evaluate(outputFiles[0]?.text ?? '')
  const did = await page.evaluate(`use(${JSON.stringify(TOKEN)})`)
  const ids = ['-9007199254740993', '9007199254740993', '9007199254740994', '9007199254740995']
  assert.deepEqual(did, {
    id: '9007199254740993',
    etag: true,
    unchanged: 'unchanged',
    taken: [true, 40901, true],
    created: [2, 1],
    errors: [[1, '9007199254740993']],
    exported: ids,
    listed: ids,
    csv: 'id,name,tag,createdAt,updatedAt\r\n9007199254740993,Açaí palm,',
    rejected: ['service', 40102],
    gone: true,
  })
  assert.deepEqual(faults, [])
})
