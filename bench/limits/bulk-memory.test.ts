import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { createGzip } from 'node:zlib'
import { CSV, NDJSON, type Report } from '../../test/plants/routes/import-requests.ts'
import { eventually } from '../../test/support/eventually.ts'
import { TOKEN, temporaryFolder } from '../../test/support/http/start-app.ts'
import { type PlantstoreProcess, startServe } from '../../test/support/process/plantstore-process.ts'

const MIB = 1024 * 1024

const ROWS = 400_000
/** What a service may take in all while it works on far more than that. */
const MEMORY_MAX_BYTES = 250 * MIB

const skip = process.platform !== 'linux' && 'memory is read from /proc'

/** The most memory that the process has had. */
function peakBytes({ child }: PlantstoreProcess): number {
  const status = readFileSync(`/proc/${child.pid}/status`, 'utf8')
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024
}

async function* plantLines(count: number): AsyncGenerator<Buffer> {
  for (let id = 0; id < count; id += 1_000) {
    yield Buffer.from(
      Array.from({ length: 1_000 }, (_, at) => `{"id":${id + at},"name":"plant ${id + at}"}\n`).join(''),
    )
  }
}

async function* repeated(chunk: Buffer, bytes: number): AsyncGenerator<Buffer> {
  for (let sent = 0; sent < bytes; sent += chunk.length) yield chunk
}

function send(
  url: string,
  body: AsyncIterable<Buffer>,
  headers: Record<string, string>,
  query = '',
): Promise<Response> {
  return fetch(`${url}/plants/import${query}`, {
    method: 'POST',
    body: ReadableStream.from(body) as NonNullable<RequestInit['body']>,
    headers: { authorization: `Bearer ${TOKEN}`, ...headers },
    // As fetch wants it for a body that is a stream.
    ...{ duplex: 'half' },
  })
}

/** Runs a service as `npm start` does, and what asserts how much memory it has taken at most. */
async function startMeasured(t: TestContext, database: string) {
  const service = await startServe(t, {
    environment: {
      MALLOC_ARENA_MAX: '2',
      PLANTSTORE_DATABASE: database,
    },
  })
  return {
    ...service,
    check(what: string): void {
      const peak = peakBytes(service)
      assert.ok(peak < MEMORY_MAX_BYTES, `${what}: ${Math.round(peak / MIB)} MiB`)
    },
  }
}

async function countsIn(response: Response): Promise<number[]> {
  const text = await response.text()
  assert.equal(response.status, 200, text)
  const { created, failed } = JSON.parse(text) as Report
  return [created, failed]
}

test('the memory of the service does not grow with an import or an export', { skip }, async (t) => {
  const database = join(temporaryFolder(t), 'plants.db')
  const importing = await startMeasured(t, database)
  assert.deepEqual(await countsIn(await send(importing.url, plantLines(ROWS), { 'content-type': NDJSON })), [
    ROWS,
    0,
  ])
  importing.check('an import')
  // The search index is brought up to date behind the import, and takes memory of its own.
  const get = (url: string, path: string, accept = '*/*') =>
    fetch(url + path, { headers: { authorization: `Bearer ${TOKEN}`, accept } })
  await eventually(
    async () => (await (await get(importing.url, `/plants?q=${ROWS - 1}`)).text()) !== '[]',
    60_000,
  )
  importing.child.kill('SIGTERM')
  await importing.exit

  const exporting = await startMeasured(t, database)
  for (const accept of [NDJSON, CSV]) {
    let bytes = 0
    for await (const chunk of (await get(exporting.url, '/plants', accept)).body ?? []) bytes += chunk.length
    assert.ok(bytes > 25 * MIB)
    exporting.check(`an export as ${accept}`)
  }
})

test('the memory of the service does not grow with what has no end', { skip }, async (t) => {
  const { url, check } = await startMeasured(t, join(temporaryFolder(t), 'plants.db'))
  const endless = await send(url, repeated(Buffer.alloc(MIB, 'x'), 300 * MIB), { 'content-type': NDJSON })
  assert.deepEqual(await countsIn(endless), [0, 1])
  check('a line without an end')
  const open = Buffer.from(`id,name\n1,"${'x\n'.repeat(MIB)}`)
  const response = await send(url, repeated(open, 300 * MIB), { 'content-type': CSV })
  assert.equal(response.status, 400, await response.text())
  check('a quotation mark that is never closed')
  for (const cells of [',', '"",']) {
    const empty = await send(url, repeated(Buffer.alloc(MIB, cells), 300 * MIB), { 'content-type': CSV })
    assert.equal(empty.status, 400, await empty.text())
    check('a record of empty cells without an end')
  }
  const blankLine = `${' '.repeat(1_023)}\n`
  const packed = createGzip()
  const unpacked = send(url, packed, { 'content-type': NDJSON, 'content-encoding': 'gzip' })
  for (let count = 0; count < 500; count++) {
    if (!packed.write(Buffer.alloc(MIB, blankLine)))
      await new Promise((resolve) => packed.once('drain', resolve))
  }
  packed.end()
  assert.deepEqual(await countsIn(await unpacked), [0, 0])
  check('a small body in gzip that is large unpacked')
})
