import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eventually } from '../../support/eventually.ts'
import { startApp, TOKEN } from '../../support/http/start-app.ts'
import { commandsOn, linesOf } from '../run-command.ts'

const TIME = String.raw`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z`
const ETAG = String.raw`"etag":"\\"\d+\\""`

test('a plant is created, shown, updated and deleted by its exact id, also a negative one', async (t) => {
  const run = commandsOn(t, await startApp(t))
  const added = await run(['create', '9007199254740993', 'Quercus robur', '--tag', 'tree'])
  assert.deepEqual(added, { code: 0, stdout: '9007199254740993\tQuercus robur\ttree\n', stderr: '' })
  const negative = await run(['create', '-7', 'Below zero', '--json'])
  assert.equal(negative.code, 0)
  assert.match(negative.stdout, new RegExp(`^\\{"id":-7,"name":"Below zero",${ETAG}\\}\n$`))

  const shown = await run(['get', '9007199254740993'])
  assert.match(shown.stdout, new RegExp(`^9007199254740993\tQuercus robur\ttree\t${TIME}\t${TIME}\n$`))
  const exact = await run(['get', '-7', '--json'])
  assert.match(
    exact.stdout,
    new RegExp(`^\\{"id":-7,"name":"Below zero","createdAt":"${TIME}","updatedAt":"${TIME}",${ETAG}\\}\n$`),
  )

  const renamed = await run(['update', '9007199254740993', '--name', 'Quercus petraea', '--no-tag', '--json'])
  assert.match(renamed.stdout, /^\{"id":9007199254740993,"name":"Quercus petraea","createdAt"/)
  const tagged = await run(['update', '-7', '--tag', ''])
  assert.match(tagged.stdout, /^-7\tBelow zero\t\t/)

  const removed = await run(['delete', '-7', '9007199254740993'])
  assert.deepEqual(removed, {
    code: 0,
    stdout: '',
    stderr: 'Plant -7 is deleted.\nPlant 9007199254740993 is deleted.\n',
  })
})

test('in a pipe the ETag of a plant is in the JSON, and --etag prints it alone, for --if-match', async (t) => {
  const app = await startApp(t)
  const run = commandsOn(t, app)
  const { etag: created } = JSON.parse((await run(['create', '1', 'Rosa canina', '--json'])).stdout)
  const header = (await app.fetch('/plants/1')).headers.get('etag') ?? assert.fail()
  assert.equal(created, header)
  assert.deepEqual(await run(['get', '1', '--etag']), { code: 0, stdout: `${header}\n`, stderr: '' })
  const { etag: read } = JSON.parse((await run(['get', '1', '--json'])).stdout)
  assert.equal(read, header)
  const updated = await run(['update', '1', '--name', 'Rosa', '--if-match', read, '--json'])
  assert.equal(updated.code, 0)
  assert.equal((await run(['update', '1', '--name', 'Rosa', '--if-match', read])).code, 1)
  assert.equal((await run(['delete', '1', '--if-match', JSON.parse(updated.stdout).etag])).code, 0)
  assert.equal((await run(['get', '1', '--etag', '--json'])).code, 2)
})

test('a used id, an absent plant and a stale ETag are reported with their code and exit with 1', async (t) => {
  const app = await startApp(t)
  const run = commandsOn(t, app)
  await run(['create', '1', 'Rosa canina'])
  const etag = (await app.fetch('/plants/1')).headers.get('etag') ?? assert.fail()
  const cases: [string[], string][] = [
    [['create', '1', 'Again'], 'plantstore: The id 1 is already used. Choose another. (code 40901)\n'],
    [['get', '2'], 'plantstore: There is no plant 2.\n'],
    [['update', '2', '--name', 'x'], 'plantstore: There is no plant with the id 2. (code 40402)\n'],
    [['delete', '2'], 'plantstore: There is no plant 2.\n'],
  ]
  for (const [words, stderr] of cases) {
    assert.deepEqual(await run(words), { code: 1, stdout: '', stderr }, words.join(' '))
  }
  const stale = await run(['update', '1', '--name', 'x', '--if-match', 'stale'])
  assert.equal(stale.code, 1)
  assert.match(stale.stderr, /^plantstore: [^\n]+ \(code 41201\)\n$/)
  // As a proxy that compresses makes it, and as a shell leaves it.
  const weak = `W/${etag.replaceAll('"', '')}`
  assert.equal((await run(['update', '1', '--name', 'Rosa', '--if-match', `W/"0"`])).code, 1)
  assert.equal((await run(['update', '1', '--tag', 'shrub', '--if-match', weak])).code, 0)
  const stillThere = await run(['delete', '1', '--if-match', etag])
  assert.match(stillThere.stderr, /\(code 41201\)\n$/)
})

test('delete reports absent plants and deletes the others', async (t) => {
  const app = await startApp(t)
  const run = commandsOn(t, app)
  await run(['create', '1', 'a'])
  await run(['create', '3', 'c'])
  const removed = await run(['delete', '1', '2', '3'])
  assert.equal(removed.code, 1)
  assert.equal(removed.stderr, 'Plant 1 is deleted.\nplantstore: There is no plant 2.\nPlant 3 is deleted.\n')
  assert.equal(await (await app.fetch('/plants')).text(), '[]')
})

test('list prints a line per plant, with tabs, as NDJSON or as CSV, and reports if there are more', async (t) => {
  const app = await startApp(t)
  const run = commandsOn(t, app)
  for (const [id, name, tag] of [
    [-1, 'Acer, "red"', 'tree'],
    [2, 'Bellis\tperennis', ''],
    [3, 'Crocus', undefined],
  ] as const) {
    await app.send('POST', '/plants', JSON.stringify({ id, name, tag }))
  }
  const piped = await run(['list'])
  assert.deepEqual(
    linesOf(piped.stdout).map((line) => line.split('\t').slice(0, 3)),
    [
      ['-1', 'Acer, "red"', 'tree'],
      ['2', 'Bellis\\tperennis', ''],
      ['3', 'Crocus', ''],
    ],
  )
  assert.equal(piped.stderr, '')

  const json = await run(['list', '--json'])
  const page = await (await app.fetch('/plants')).text()
  assert.equal(`[${linesOf(json.stdout).join()}]`, page, 'as the service writes them')

  const csv = await run(['list', '--csv'])
  const [header, first, second, third] = csv.stdout.split('\r\n')
  assert.equal(header, 'id,name,tag,createdAt,updatedAt')
  assert.match(first ?? '', /^-1,"Acer, ""red""",tree,/)
  assert.ok(second?.startsWith('2,Bellis\tperennis,"",'), 'the empty tag is not the absent one')
  assert.match(third ?? '', /^3,Crocus,,/)

  const limited = await run(['list', '--limit', '2'])
  assert.equal(linesOf(limited.stdout).length, 2)
  assert.equal(limited.stderr, 'There are more than 2. Continue with --after 2, or use --all.\n')
  const rest = await run(['list', '--limit', '2', '--after', '-1'])
  assert.deepEqual([linesOf(rest.stdout).length, rest.stderr], [2, ''])
  assert.match((await run(['list', '--tag', 'tree'])).stdout, /^-1\t[^\n]*\n$/)
  assert.deepEqual(await run(['list', '--tag', 'none']), { code: 0, stdout: '', stderr: '' })
  assert.equal((await run(['list', '--tag', 'none', '--csv'])).stdout, 'id,name,tag,createdAt,updatedAt\r\n')
})

test('list --all reads every page of the service, and --limit more than one', async (t) => {
  const app = await startApp(t)
  const run = commandsOn(t, app)
  const rows = Array.from({ length: 2_100 }, (_, at) => `{"id":${at},"name":"n${at}"}\n`).join('')
  await run(['import', '-', '--format', 'ndjson'], { input: rows })
  const all = await run(['list', '--all', '--json'])
  assert.deepEqual([linesOf(all.stdout).length, all.stderr], [2_100, ''])
  const many = await run(['list', '--limit', '2000'])
  assert.deepEqual(
    [linesOf(many.stdout).length, many.stderr],
    [2_000, 'There are more than 2000. Continue with --after 1999, or use --all.\n'],
  )
  assert.equal(linesOf((await run(['list'])).stdout).length, 100)
})

test('search finds the beginnings of words in any order, ignoring accents', async (t) => {
  const run = commandsOn(t, await startApp(t))
  await run(['create', '1', 'Açaí palm', '--tag', 'palm'])
  await run(['create', '2', 'Date palm', '--tag', 'palm'])
  // On SQLite a plant is found a moment after it is created.
  await eventually(async () => linesOf((await run(['search', 'palm', '--json'])).stdout).length === 2)
  const found = await run(['search', 'pal', 'acai'])
  assert.match(found.stdout, /^1\tAçaí palm\tpalm\t[^\n]*\n$/)
})

test('tags are listed with their counts, most used first', async (t) => {
  const run = commandsOn(t, await startApp(t))
  await run(['create', '1', 'a', '--tag', 'herb'])
  await run(['create', '2', 'b', '--tag', 'tree, tall'])
  await run(['create', '3', 'c', '--tag', 'tree, tall'])
  assert.equal((await run(['tags'])).stdout, 'tree, tall\t2\nherb\t1\n')
  assert.equal((await run(['tags', '--csv'])).stdout, 'tag,count\r\n"tree, tall",2\r\nherb,1\r\n')
  assert.equal((await run(['tags', '--json', '--limit', '1'])).stdout, '{"tag":"tree, tall","count":2}\n')
})

test('token and URL come from flags or variables, and the URL includes the base path', async (t) => {
  const app = await startApp(t, { PLANTSTORE_BASE_URL: 'http://plants.example/garden/' })
  const base = `http://127.0.0.1:${app.port}/garden`
  const run = commandsOn(t, { url: base })
  assert.equal((await run(['create', '1', 'x'])).code, 0)
  const flags = ['--url', `${base}/`, '--token', TOKEN]
  const environment = { PLANTSTORE_URL: 'http://127.0.0.1:1', PLANTSTORE_TOKEN: '' }
  assert.match((await run(['get', '1', ...flags], { environment })).stdout, /^1\tx\t/)
  const none = await run(['get', '1'], { environment: { PLANTSTORE_TOKEN: '' } })
  assert.equal(none.code, 1)
  assert.match(
    none.stderr,
    /^plantstore: A token is required: .*PLANTSTORE_TOKEN.*plantstore token create[^\n]*\n$/,
  )
})

test('an unknown token is reported with the command that creates one', async (t) => {
  const app = await startApp(t)
  const run = commandsOn(t, app)
  const unknown = await run(['list'], { environment: { PLANTSTORE_TOKEN: 'nobody-knows-this-token' } })
  assert.equal(unknown.code, 1)
  assert.match(unknown.stderr, /^plantstore: [^\n]*\(code 40102\)[^\n]*"plantstore token create"[^\n]*\n$/)
  const made = await app.send('POST', '/tokens', '{"scopes":["plants:read"]}')
  const { token } = (await made.json()) as { token: string }
  const reading = await run(['create', '1', 'x'], { environment: { PLANTSTORE_TOKEN: token } })
  assert.match(reading.stderr, /^plantstore: [^\n]*plants:write[^\n]*\(code 40301\)\n$/)
})
