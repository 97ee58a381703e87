import assert from 'node:assert/strict'
import { eventually } from './eventually.ts'
import type { StartedApp } from './http/start-app.ts'

/** Begins an import, and goes away when its first plant, with the id 1, is stored. */
export async function cutImport(app: StartedApp): Promise<void> {
  const gone = new AbortController()
  const body = new ReadableStream({
    start: (controller) => controller.enqueue(Buffer.from('{"id":1,"name":"Oak"}\n')),
  })
  const headers = { 'content-type': 'application/x-ndjson' }
  const init = { method: 'POST', headers, body, duplex: 'half' as const, signal: gone.signal }
  const refused = assert.rejects(app.fetch('/plants/import', init), { name: 'AbortError' })
  await eventually(async () => (await app.fetch('/plants/1')).ok)
  gone.abort()
  await refused
}
