import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findFreePort } from '../support/free-port.ts'
import { temporaryFolder } from '../support/http/start-app.ts'
import { commandsOn } from './run-command.ts'

const ID_RULE =
  /^plantstore: (?:<ids?>|--after <id>) cannot be '[^']+'\. An id must be a whole number from -9223372036854775808 to 9223372036854775807\.\n$/

/** Invalid arguments of each command, and the message. Nothing is sent for them. */
const CASES: [string[], RegExp][] = [
  [['create'], /^plantstore: missing required argument 'id'\n$/],
  [['create', '1'], /^plantstore: missing required argument 'name'\n$/],
  [
    ['create', '1', 'Quercus', 'robur'],
    /^plantstore: too many arguments for 'create'\. Expected 2 arguments but got 3[^\n]*\n$/,
  ],
  [['create', 'one', 'x'], ID_RULE],
  [['create', '1', 'x', '--tga', 'y'], /^plantstore: unknown option '--tga'\n\(Did you mean --tag\?\)\n$/],
  [['get'], /missing required argument 'id'/],
  [['get', '9223372036854775808'], ID_RULE],
  [['get', '-9223372036854775809'], ID_RULE],
  [['get', '1.5'], ID_RULE],
  [['get', '-x'], /^plantstore: unknown option '-x'\n/],
  [
    ['list', '--limit', '0'],
    /^plantstore: --limit <number> cannot be '0'\. It must be a whole number from 1 to \d+\.\n$/,
  ],
  [['list', '--limit', '10', '--all'], /option '--all' cannot be used with option '--limit <number>'\n$/],
  [['list', '--json', '--csv'], /option '--json' cannot be used with option '--csv'\n$/],
  [['list', '--after', '007'], ID_RULE],
  [['list', 'trees'], /too many arguments for 'list'/],
  [['list', '--tag'], /^plantstore: option '--tag <tag>' argument missing\n$/],
  [['search'], /missing required argument 'words'/],
  [['update', '1'], /^plantstore: Nothing to update: give --name, --tag or --no-tag\.\n$/],
  [['update', '1', '--tag', 'a', '--no-tag'], /^plantstore: --tag and --no-tag cannot be combined\.\n$/],
  [['update', '1', '--no-tag', '--tag', 'a'], /^plantstore: --tag and --no-tag cannot be combined\.\n$/],
  [['delete'], /missing required argument 'ids'/],
  [['delete', '1', 'x'], ID_RULE],
  [['delete', '1', '2', '--if-match', 'e'], /^plantstore: --if-match takes a single id\.\n$/],
  [['tags', '--limit', '1001'], /from 1 to 1000\.\n$/],
  [['import'], /missing required argument 'file'/],
  [
    ['import', '-'],
    /^plantstore: The format of standard input is unknown\. Use --format ndjson or csv, [^\n]*\n$/,
  ],
  [['import', 'plants.json'], /^plantstore: The format of plants\.json is unknown\. /],
  ...[['backup'], ['restore'], ['import'], ['export'], ['import', 'a.csv', '--errors']].map(
    (words): [string[], RegExp] => [
      [...words, 'm.ndjson\r'],
      /^plantstore: (?:<file>|file|--errors <file>) cannot be '[^\n]*'\. It must be the path of a file, [^\n]*\n$/,
    ],
  ),
  [['backup', 'backups/'], /It must be the path of a file, not of a folder, [^\n]*\n$/],
  [['import', 'a.csv', '--format', 'xml'], /It must be one of ndjson, csv\.\n$/],
  [
    ['import', 'a.csv', '--on-conflict', 'repalce'],
    /It must be one of fail, skip, replace\.\n\(Did you mean replace\?\)\n$/,
  ],
  [['import', 'a.ndjson', '--columns', 'id,name'], /^plantstore: --columns is for CSV only\.\n$/],
  [['import', 'a.ndjson', '--id-start', '1'], /^plantstore: --id-start is for CSV only\.\n$/],
  [
    ['import', 'a.csv', '--columns', 'foo'],
    /^plantstore: The columns are wrong\. A column name is required\. See --columns\.\n$/,
  ],
  [
    ['import', 'a.csv', '--columns', 'name,name'],
    /^plantstore: [^\n]+ The column name must occur only once\. See --columns\.\n$/,
  ],
  [
    ['import', 'a.csv', '--columns', 'name'],
    /^plantstore: [^\n]+ A column id is required, [^\n]+ See --columns and --id-start\.\n$/,
  ],
  [['import', 'a.csv', '--encoding', 'klingon'], /The encoding is unknown\. [^\n]*\n$/],
  [
    ['import', 'a.csv', '--encoding', 'iso-2022-jp', '--errors', 'b.csv'],
    /--errors does not support iso-2022-jp/,
  ],
  [['export', 'plants.xlsx'], /^plantstore: The format of plants\.xlsx is unknown\. /],
  [['export', '--bom'], /^plantstore: --bom is for CSV only\.\n$/],
  [['export', '--format', 'cvs'], /It must be one of ndjson, csv\.\n\(Did you mean csv\?\)\n$/],
  [['ping', '--count', 'many'], /It must be a whole number from 1 to 1000000\.\n$/],
  [['ping', '--token', 'a-token-of-16-letters'], /^plantstore: unknown option '--token'\n/],
  [['openapi', '--json'], /^plantstore: unknown option '--json'\n/],
  [['completion'], /missing required argument 'shell'/],
  [['completion', 'zhs'], /It must be one of bash, zsh, fish\.\n\(Did you mean zsh\?\)\n$/],
  [['list', '--url', 'localhost:8080'], /^plantstore: --url must be an http or https URL [^\n]*\n$/],
  [['list', '--token', 'short'], /^plantstore: --token must be 16 to 16000 characters from [^\n]*\n$/],
]

test('invalid arguments of every command exit with 2 and a line that states the rule', async (t) => {
  const run = commandsOn(t, { url: `http://127.0.0.1:${await findFreePort()}` })
  const folder = temporaryFolder(t)
  for (const [words, message] of CASES) {
    const { code, stdout, stderr } = await run(words, { folder })
    assert.deepEqual([code, stdout], [2, ''], `${words.join(' ')}: ${stderr}`)
    assert.match(stderr, /^plantstore: /)
    assert.match(stderr, message)
    assert.doesNotMatch(stderr, /\n +at /)
  }
})

test('an invalid variable exits with 2, as an invalid flag does', async (t) => {
  const run = commandsOn(t, { url: 'localhost' })
  const { code, stderr } = await run(['list'])
  assert.equal(code, 2)
  assert.match(stderr, /^plantstore: PLANTSTORE_URL must be an http or https URL [^\n]*\n$/)
  const typo = await run(['list'], { environment: { PLANTSTORE_TOKNE: 'x' } })
  assert.deepEqual(
    [typo.code, typo.stderr.split('.')[0]],
    [2, 'plantstore: There is no setting PLANTSTORE_TOKNE'],
  )
})

test('without a service every command fails soon, in one line', async (t) => {
  const port = await findFreePort()
  const url = `http://127.0.0.1:${port}`
  const run = commandsOn(t, { url })
  const words = [
    ['create', '1', 'x'],
    ['get', '1'],
    ['list'],
    ['search', 'x'],
    ['update', '1', '--tag', 'x'],
    ['delete', '1'],
    ['tags'],
    ['import', '-', '--format', 'csv'],
    ['export'],
    ['openapi'],
  ]
  const message = `plantstore: Cannot connect to ${url}: nothing listens there. Start the service, or set its URL with --url or PLANTSTORE_URL.`
  for (const one of words) {
    const { code, stdout, stderr } = await run(one, { input: 'id,name\n1,x\n' })
    assert.deepEqual([code, stdout], [1, ''], one.join(' '))
    assert.ok(stderr.startsWith(message), `${one.join(' ')}: ${stderr}`)
    assert.equal(stderr.split('\n').length, 2)
  }
  const host = await run(['get', '1', '--url', 'http://no-such-host.invalid'])
  assert.match(host.stderr, /^plantstore: Cannot resolve the host name no-such-host\.invalid\. [^\n]*\n$/)
})
