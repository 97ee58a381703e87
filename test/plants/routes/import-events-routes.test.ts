import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { ErrorDetails } from '../../../src/errors.ts'
import { describedService } from '../../support/described-service.ts'
import { eventually } from '../../support/eventually.ts'
import { type StartedApp, startApp } from '../../support/http/start-app.ts'
import { CSV, NDJSON, postImport, storedPlants } from './import-requests.ts'

// The events of a running import.

type Event = {
  type: string
  line?: number
  error?: number
  message?: string
  details?: ErrorDetails
} & Record<string, unknown>

const plantLines = (count: number, firstId = 1) =>
  Array.from({ length: count }, (_, at) => `{"id":${firstId + at},"name":"plant ${firstId + at}"}\n`).join('')

/** A body that the test sends in parts. */
function openBody() {
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined
  const stream = new ReadableStream<Uint8Array>({
    start(started) {
      controller = started
    },
  })
  return {
    stream,
    send: (text: string) => controller?.enqueue(Buffer.from(text)),
    end: () => controller?.close(),
    breakOff: () => controller?.error(new Error('gone')),
  }
}

/** The events of a response, as they arrive. */
async function* eventsOf(response: Response): AsyncGenerator<Event> {
  let text = ''
  for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    const lines = (text + chunk).split('\n')
    text = lines.pop() ?? ''
    for (const line of lines) yield JSON.parse(line) as Event
  }
  assert.equal(text, '', 'a line feed after the last event')
}

async function allEvents(response: Response): Promise<Event[]> {
  assert.equal(response.status, 200)
  assert.equal(response.headers.get('content-type'), NDJSON)
  const events: Event[] = []
  for await (const event of eventsOf(response)) events.push(event)
  return events
}

const importEvents = (app: StartedApp, body: Parameters<typeof postImport>[1], query = '', type = NDJSON) =>
  postImport(app, body, { query, headers: { accept: NDJSON, 'content-type': type } })

/** An import that waits for the rest of its body, and its next event. */
async function runningImport(t: TestContext, settings = {}) {
  const app = await startApp(t, settings)
  const body = openBody()
  body.send(`{}\n${plantLines(3)}`)
  const response = await importEvents(app, body.stream)
  const events = eventsOf(response)
  const next = async () => ((await events.next()) as { value: Event }).value
  return { app, body, next }
}

test('every failed row has an event, not only the first thousand, and the last line is the report', async (t) => {
  const app = await startApp(t)
  const body = Array.from({ length: 5_000 }, (_, id) => (id % 2 === 0 ? '{}\n' : plantLines(1, id))).join('')
  const events = await allEvents(await importEvents(app, body))
  const errors = events.filter(({ type }) => type === 'error')
  assert.deepEqual(
    errors.map(({ line, error }) => [line, error]),
    Array.from({ length: 2_500 }, (_, at) => [2 * at + 1, 40003]),
  )
  const report = { type: 'report', created: 2_500, replaced: 0, skipped: 0, failed: 2_500 }
  assert.deepEqual(events.at(-1), report)
  assert.equal(events.filter(({ type }) => type === 'report').length, 1)
  assert.deepEqual(new Set(events.map(({ type }) => type)), new Set(['progress', 'error', 'report']))
})

test('the event of a failed row equals its entry in a report', async (t) => {
  const app = await startApp(t)
  const body = '{"id":9007199254740993,"name":"a"}\n{"id":9007199254740993,"name":"\\"twice\\""}\n{"id":1}\n'
  const text = await (await importEvents(app, body)).text()
  assert.deepEqual(
    text.split('\n').filter((line) => !line.includes('progress')),
    [
      '{"type":"error","line":2,"id":9007199254740993,"error":40901,"message":"The id 9007199254740993 is already used.","fields":[{"name":"id","rule":"unique"}]}',
      '{"type":"error","line":3,"id":1,"error":40003,"message":"name is required.","fields":[{"name":"name","rule":"required"}]}',
      '{"type":"report","created":1,"replaced":0,"skipped":0,"failed":2}',
      '',
    ],
  )
})

test('every event matches the OpenAPI document', async (t) => {
  const app = await startApp(t)
  const { document, assertMatches } = await describedService(app)
  const schema = document.components.schemas.ImportEvent ?? assert.fail('no ImportEvent')
  for (const body of ['{"id":1,"name":"a"}\n{"id":1}\nx\n', Buffer.from('a\0', 'latin1')]) {
    for (const event of await allEvents(await importEvents(app, body)))
      assertMatches(event, schema, event.type)
  }
  const [created] = await allEvents(await importEvents(app, '{"id":2,"name":"a"}\n'))
  assert.throws(() => assertMatches({ ...created, type: 'other' }, schema, 'another type'))
})

test('rows are stored and reported before the body is complete', async (t) => {
  const { app, body, next } = await runningImport(t)
  assert.deepEqual((await next()).line, 1, 'the failed row')
  assert.deepEqual(await next(), {
    type: 'progress',
    line: 5,
    created: 3,
    replaced: 0,
    skipped: 0,
    failed: 1,
  })
  assert.equal((await storedPlants(app)).length, 3)
  // Within the progress interval: the next progress is sent without further rows.
  body.send(plantLines(2, 10))
  assert.deepEqual(await next(), {
    type: 'progress',
    line: 7,
    created: 5,
    replaced: 0,
    skipped: 0,
    failed: 1,
  })
  body.send('{"id":1,"name":"taken"}\n')
  body.end()
  let event = await next()
  if (event.type === 'progress') event = await next()
  assert.deepEqual([event.type, event.line, event.error], ['error', 7, 40901])
  do event = await next()
  while (event.type === 'progress')
  assert.deepEqual(event, { type: 'report', created: 5, replaced: 0, skipped: 0, failed: 2 })
})

test('progress is sent a few times a second at most, and never decreases', async (t) => {
  const app = await startApp(t)
  const start = performance.now()
  const events = await allEvents(await importEvents(app, plantLines(50_000)))
  const progress = events.filter(({ type }) => type === 'progress')
  assert.ok(progress.length <= 2 + (performance.now() - start) / 250, `${progress.length}`)
  for (const [at, { line, created }] of progress.entries()) {
    assert.equal(created, Number(line) - 1)
    assert.ok(at === 0 || Number(line) > Number(progress[at - 1]?.line))
  }
})

test('an import that fails has its error and progress in the last line', async (t) => {
  const app = await startApp(t)
  const open = await allEvents(await importEvents(app, 'id,name\n1,a\n2,"b\n', '', CSV))
  assert.deepEqual(open.at(-1), {
    type: 'failure',
    error: 40002,
    message: 'The row has a quotation mark that is never closed.',
    details: {
      fields: [{ name: '', rule: 'well-formed', line: 3 }],
      line: 3,
      counts: { created: 1, replaced: 0, skipped: 0, failed: 0 },
      outcome: 'stored-before-line',
    },
  })
  const headless = await allEvents(await importEvents(app, 'number\n', '', CSV))
  assert.deepEqual(
    headless.map(({ type, error }) => [type, error]),
    [['failure', 40003]],
  )
  const line = await eventually(() => app.log.find(({ error }) => error === 40003))
  assert.deepEqual([line.level, line.msg, line.status], [30, 'request rejected', 200])
})

test('the last progress equals the counts of the failure or report', async (t) => {
  const app = await startApp(t)
  for (const [at, last] of ['"open', ''].entries()) {
    const body = openBody()
    body.send('a,\nbbbbbbbbbbbb,')
    const response = await importEvents(app, body.stream, `?columns=name,tag&idStart=${100 * at}`, CSV)
    const events = eventsOf(response)
    const first = (await events.next()).value as Event
    assert.deepEqual([first.type, first.created], ['progress', 1])
    // Within the progress interval.
    body.send(`\nc,\n"",\n${last}`)
    body.end()
    const rest: Event[] = []
    for await (const event of events) rest.push(event)
    const counts = { created: 3, replaced: 0, skipped: 0, failed: 1 }
    assert.deepEqual(rest.at(-2), { type: 'progress', line: 5, ...counts })
    if (last === '') assert.deepEqual(rest.at(-1), { type: 'report', ...counts })
    else assert.deepEqual([rest.at(-1)?.details?.line, rest.at(-1)?.details?.counts], [5, counts])
    assert.equal(rest.filter(({ type }) => type === 'progress').length, 1)
  }
})

test('a client that stops sending gets 40801 in the last line', async (t) => {
  const settings = { PLANTSTORE_HEADERS_TIMEOUT_MS: '300', PLANTSTORE_REQUEST_TIMEOUT_MS: '400' }
  const { next } = await runningImport(t, settings)
  let event = await next()
  while (event.type !== 'failure') event = await next()
  assert.equal(event.error, 40801)
  assert.deepEqual([event.details?.line, event.details?.outcome], [5, 'stored-before-line'])
})

test('rows that were reported before the connection dropped are stored, and nothing is logged', async (t) => {
  const { app, body, next } = await runningImport(t)
  while ((await next()).type !== 'progress');
  body.send(plantLines(1, 10))
  body.breakOff()
  await assert.rejects(async () => {
    for (;;) if ((await next()) === undefined) return
  })
  const stored = (await storedPlants(app)).slice(0, 3)
  assert.deepEqual(
    stored,
    [1, 2, 3].map((id) => [BigInt(id), `plant ${id}`]),
  )
  assert.deepEqual(
    app.log.filter(({ path }) => path === '/plants/import'),
    [],
  )
})

test('a client that accepts neither format gets JSON, and one that accepts both gets its preferred one', async (t) => {
  const app = await startApp(t)
  for (const [accept, type] of [
    ['image/png', 'application/json'],
    ['*/*', 'application/json'],
    ['application/json, application/x-ndjson', 'application/json'],
    ['application/json;q=0.5, application/x-ndjson', NDJSON],
  ] as const) {
    const response = await postImport(app, '\n', { headers: { accept } })
    assert.equal(response.headers.get('content-type')?.split(';')[0], type, accept)
    await response.arrayBuffer()
  }
})
