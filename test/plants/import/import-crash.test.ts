import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { TOKEN, temporaryFolder } from '../../support/http/start-app.ts'
import { type PlantstoreProcess, startServe } from '../../support/process/plantstore-process.ts'
import { countsOf, importReport, NDJSON, storedPlants } from '../routes/import-requests.ts'

const ROWS = 30_000
const MORE_ROWS = 1_000
/** Each round kills the service when this many rows are stored. */
const KILLED_AT = [1, 5_000, 15_000]

const plantLines = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, at) => `{"id":${from + at},"name":"plant ${from + at}"}\n`).join('')

/** A body that never ends, so that its import cannot end before the service is killed. */
const endless = (text: string) =>
  new ReadableStream<Uint8Array>({ start: (controller) => controller.enqueue(Buffer.from(text)) })

const asApp = ({ url }: { url: string }) => ({
  fetch: (path: string, init: RequestInit = {}) =>
    fetch(url + path, { ...init, headers: { authorization: `Bearer ${TOKEN}`, ...init.headers } }),
})

/** Imports until `killedAt` rows are reported as stored, then kills the service. Returns the last reported number. */
async function importUntilKilled(
  service: PlantstoreProcess & { url: string },
  body: string,
  killedAt: number,
): Promise<number> {
  const response = await asApp(service).fetch('/plants/import?onConflict=skip', {
    method: 'POST',
    body: endless(body) as NonNullable<RequestInit['body']>,
    headers: { 'content-type': NDJSON, accept: NDJSON },
    // Required by fetch for a stream as the body.
    ...{ duplex: 'half' },
  })
  let text = ''
  let reported = 0
  try {
    for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      text += chunk
      const lines = text.split('\n')
      text = lines.pop() ?? ''
      for (const line of lines) {
        const { type, created, skipped } = JSON.parse(line)
        assert.equal(type, 'progress', 'it is killed before the end')
        reported = created + skipped
      }
      if (reported >= killedAt) service.child.kill('SIGKILL')
    }
  } catch (error) {
    // The error of fetch for a dropped connection.
    if (!(error instanceof TypeError)) throw error
  }
  assert.equal(await service.exit, 'SIGKILL')
  return reported
}

test('after a kill every reported row of an import is stored, and the next run completes it', async (t) => {
  const environment = { PLANTSTORE_DATABASE: join(temporaryFolder(t), 'plants.db') }
  const body = plantLines(0, ROWS)
  for (const killedAt of KILLED_AT) {
    const reported = await importUntilKilled(await startServe(t, { environment }), body, killedAt)
    assert.ok(reported >= killedAt)
    const again = await startServe(t, { environment })
    const stored = (await storedPlants(asApp(again))) as [bigint, string][]
    assert.ok(stored.length >= reported, `${stored.length} are stored, and ${reported} were reported`)
    assert.deepEqual(
      stored.map(([id]) => id),
      stored.map((_, at) => BigInt(at)),
      'no plant before the last one is missing',
    )
    again.child.kill('SIGTERM')
    assert.equal(await again.exit, 0)
  }
  const last = await startServe(t, { environment })
  // More rows than may be stored already: a service may have imported a whole body before it was killed.
  const all = plantLines(0, ROWS + MORE_ROWS)
  const [created = 0, replaced, skipped = 0, failed] = countsOf(
    await importReport(asApp(last), all, { query: '?onConflict=skip' }),
  )
  assert.deepEqual([created + skipped, replaced, failed], [ROWS + MORE_ROWS, 0, 0])
  assert.ok(created >= MORE_ROWS && skipped >= (KILLED_AT.at(-1) ?? 0))
  assert.equal((await storedPlants(asApp(last))).length, ROWS + MORE_ROWS)
})
