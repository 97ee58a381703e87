import assert from 'node:assert/strict'
import { eventually } from './eventually.ts'
import type { StartedApp } from './http/start-app.ts'

/** Starts an import, and aborts it once its first plant, with the id 1, is stored. */
export async function abortImport(app: StartedApp): Promise<void> {
  const client = new AbortController()
  const body = new ReadableStream({
    start: (controller) => controller.enqueue(Buffer.from('{"id":1,"name":"Oak"}\n')),
  })
  const headers = { 'content-type': 'application/x-ndjson' }
  const init = { method: 'POST', headers, body, duplex: 'half' as const, signal: client.signal }
  const aborted = assert.rejects(app.fetch('/plants/import', init), { name: 'AbortError' })
  await eventually(async () => (await app.fetch('/plants/1')).ok)
  client.abort()
  await aborted
}
