import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { ErrorDetails } from '../../../src/errors.ts'
import { describedService } from '../../support/described-service.ts'
import { eventually } from '../../support/eventually.ts'
import { type StartedApp, startApp } from '../../support/http/start-app.ts'
import { CSV, NDJSON, postImport, storedPlants } from './import-requests.ts'

// What an import tells while it runs.

type Event = {
  type: string
  line?: number
  error?: number
  message?: string
  details?: ErrorDetails
} & Record<string, unknown>

const plantLines = (count: number, firstId = 1) =>
  Array.from({ length: count }, (_, at) => `{"id":${firstId + at},"name":"plant ${firstId + at}"}\n`).join('')

/** A body that is sent as the test wants it. */
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

/** The events of an answer, as they come. */
async function* eventsOf(answer: Response): AsyncGenerator<Event> {
  let text = ''
  for await (const piece of answer.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    const lines = (text + piece).split('\n')
    text = lines.pop() ?? ''
    for (const line of lines) yield JSON.parse(line) as Event
  }
  assert.equal(text, '', 'a line feed behind the last event')
}

async function allEvents(answer: Response): Promise<Event[]> {
  assert.equal(answer.status, 200)
  assert.equal(answer.headers.get('content-type'), NDJSON)
  const events: Event[] = []
  for await (const event of eventsOf(answer)) events.push(event)
  return events
}

const importEvents = (app: StartedApp, body: Parameters<typeof postImport>[1], query = '', type = NDJSON) =>
  postImport(app, body, { query, headers: { accept: NDJSON, 'content-type': type } })

/** An import that waits for the rest of its body, and what it tells. */
async function runningImport(t: TestContext, settings = {}) {
  const app = await startApp(t, settings)
  const body = openBody()
  body.send(`{}\n${plantLines(3)}`)
  const answer = await importEvents(app, body.stream)
  const events = eventsOf(answer)
  const next = async () => ((await events.next()) as { value: Event }).value
  return { app, body, next }
}

test('every refused row is told, not only the first thousand, and the last line is the report', async (t) => {
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

test('a row that is refused is told exactly as in a report', async (t) => {
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

test('every event is what the document describes', async (t) => {
  const app = await startApp(t)
  const { document, assertMatches } = await describedService(app)
  const schema = document.components.schemas.ImportEvent ?? assert.fail('It describes none')
  for (const body of ['{"id":1,"name":"a"}\n{"id":1}\nx\n', Buffer.from('a\0', 'latin1')]) {
    for (const event of await allEvents(await importEvents(app, body)))
      assertMatches(event, schema, event.type)
  }
  const [created] = await allEvents(await importEvents(app, '{"id":2,"name":"a"}\n'))
  assert.throws(() => assertMatches({ ...created, type: 'other' }, schema, 'another type'))
})

test('while the body is yet to come, what was stored of it is told, and is stored', async (t) => {
  const { app, body, next } = await runningImport(t)
  assert.deepEqual((await next()).line, 1, 'the refused row')
  assert.deepEqual(await next(), {
    type: 'progress',
    line: 5,
    created: 3,
    replaced: 0,
    skipped: 0,
    failed: 1,
  })
  assert.equal((await storedPlants(app)).length, 3)
  // Sooner than progress is told again: it comes by itself all the same.
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

test('progress is told some times a second at most, and never goes back', async (t) => {
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

test('an import that cannot go on says so in its last line, and how far it got', async (t) => {
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

test('the last progress told is what the failure, or the report, says', async (t) => {
  const app = await startApp(t)
  for (const [at, last] of ['"open', ''].entries()) {
    const body = openBody()
    body.send('a,\nbbbbbbbbbbbb,')
    const answer = await importEvents(app, body.stream, `?columns=name,tag&idStart=${100 * at}`, CSV)
    const events = eventsOf(answer)
    const first = (await events.next()).value as Event
    assert.deepEqual([first.type, first.created], ['progress', 1])
    // Sooner than progress is told again.
    body.send(`\nc,\n,\n${last}`)
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

test('a client that falls silent is told in the last line', async (t) => {
  const settings = { PLANTSTORE_HEADERS_TIMEOUT_MS: '300', PLANTSTORE_REQUEST_TIMEOUT_MS: '400' }
  const { next } = await runningImport(t, settings)
  let event = await next()
  while (event.type !== 'failure') event = await next()
  assert.equal(event.error, 40801)
  assert.deepEqual([event.details?.line, event.details?.outcome], [5, 'stored-before-line'])
})

test('a connection that is cut keeps what was told, and leaves no line in the log', async (t) => {
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

test('a client that takes neither kind of answer gets JSON, and one that takes both gets what it likes better', async (t) => {
  const app = await startApp(t)
  for (const [accept, type] of [
    ['image/png', 'application/json'],
    ['*/*', 'application/json'],
    ['application/json, application/x-ndjson', 'application/json'],
    ['application/json;q=0.5, application/x-ndjson', NDJSON],
  ] as const) {
    const answer = await postImport(app, '\n', { headers: { accept } })
    assert.equal(answer.headers.get('content-type')?.split(';')[0], type, accept)
    await answer.arrayBuffer()
  }
})
