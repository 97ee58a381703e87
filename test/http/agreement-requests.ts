import fc from 'fast-check'

/** A request; of its path and fields `{etag}`, `{token}` and `{token id}` are filled in with what got a response. */
export interface AgreementRequest {
  method: string
  path: string
  headers?: Record<string, string>
  /** JSON, as it is sent. */
  body?: string
}

const BODY_BYTES_MAX = 1024 * 1024
/** Longer than a word of an index of words may be. */
const LONG_WORD = 'w'.repeat(700)
/**
 * What follows that word in the names of plants one after the other, of which those with a y are a megabyte: a
 * page is full of them before a search has met what it wants.
 */
const LOOKALIKES = 'xxxxxxyyyyyyxyyyyyyxx'
const EMOJI = '🌵'
const NAMES = [
  '',
  ' ',
  'Mentha × piperita',
  `Rosa 'Peace' "Mme A. Meilland"`,
  `O''Hara; DROP TABLE plants; -- $1 \\ %_`,
  `${EMOJI} 👩‍🌾 e\u0301 é`,
  'Ärger Straße ŒUVRE İstanbul',
  '花の木 桜',
  '\t\n\u0001\u007f\u2028\ufeff\uffff',
  'rosa rosa ROSA rós',
  'a b c d e f g h i j k l m n o p q r s t',
]
const IDS = [
  '-9223372036854775808',
  '-9223372036854775807',
  '-1',
  '-0',
  '0',
  '9007199254740991',
  '9007199254740992',
  '9007199254740993',
  '9223372036854775806',
  '9223372036854775807',
  '1e2',
  '7.0',
]
const WRONG_IDS = ['9223372036854775808', '-9223372036854775809', '1.5', '"1"', 'null', '1e400', '01', 'true']

const get = (path: string, headers = {}): AgreementRequest => ({ method: 'GET', path, headers })
const remove = (path: string, headers = {}): AgreementRequest => ({ method: 'DELETE', path, headers })
const send = (method: string, path: string, body: string, headers = {}): AgreementRequest => ({
  method,
  path,
  body,
  headers: { 'content-type': 'application/json', ...headers },
})
const create = (body: string, headers = {}) => send('POST', '/plants', body, headers)
const plant = (id: string | number, name: string, tag?: string | null) =>
  `{"id":${id},"name":${JSON.stringify(name)}${tag === undefined ? '' : `,"tag":${JSON.stringify(tag)}`}}`
const query = (parameters: Record<string, string>) => get(`/plants?${new URLSearchParams(parameters)}`)

const creates = [
  ...IDS.flatMap((id) => [create(plant(id, 'Quercus robur', 'tree')), create(plant(id, 'again'))]),
  ...IDS.map((id) => get(`/plants/${id}`)),
  ...WRONG_IDS.flatMap((id) => [create(plant(id, 'a')), get(`/plants/${encodeURIComponent(id)}`)]),
  ...NAMES.map((name, at) => create(plant(100 + at, name, NAMES.at(-1 - at)))),
  ...NAMES.map((_, at) => get(`/plants/${100 + at}`)),
  ...['{', '[]', '{"id":1}', '{"name":"a"}', '{"id":1,"name":null}', '{"id":1,"name":"a","tag":null}'].map(
    (body) => create(body),
  ),
  ...['\\u0000', '\\ud800', '\\udc00x', '\\ud83c\\udf35'].map((text) =>
    create(`{"id":300,"name":"${text}"}`),
  ),
  ...['\\u0000', '\\ud800'].map((text) => create(`{"id":301,"name":"a","tag":"${text}"}`)),
]

/** Names and tags that are nearly as long as a body may be, so that a page is full before its number is. */
const large = [
  ...[...LOOKALIKES].map((ending, at) => {
    const padding = ending === 'x' ? '' : ' n'.repeat((BODY_BYTES_MAX - 3_000) / 2)
    return create(plant(1000 + at, `${LONG_WORD}${ending}${padding}`, at % 2 ? 'large' : undefined))
  }),
  ...[0, 1, 2, 3, 4].map((at) => create(plant(1100 + at, EMOJI.repeat(BODY_BYTES_MAX / 4 - 10), 'emoji'))),
  create(plant(1200, 'm'.repeat(BODY_BYTES_MAX))),
  create(plant(1201, 'a', 't'.repeat(BODY_BYTES_MAX - 100))),
  create(plant(1202, 'a', 't'.repeat(3_000))),
  create(plant(1203, 'a', `${'t'.repeat(2_999)}u`)),
  ...[3_000, 200, 2_999].map((length) => query({ tag: 't'.repeat(length) })),
  ...['large', 'emoji'].flatMap((tag) => [query({ tag }), query({ tag, limit: '2' })]),
  query({ after: '999' }),
  query({ after: '1003', limit: '5' }),
  query({ q: `${LONG_WORD}x` }),
  query({ q: `${LONG_WORD}y` }),
  query({ q: `${LONG_WORD}x`, limit: '3' }),
  query({ q: `${LONG_WORD}y`, after: '1004' }),
  query({ q: LONG_WORD, limit: '20' }),
  get('/tags'),
  ...[...LOOKALIKES].map((_, at) => remove(`/plants/${1000 + at}`)),
  ...[0, 1, 2, 3, 4].map((at) => remove(`/plants/${1100 + at}`)),
  remove('/plants/1201'),
]

const reads = [
  ...['1', '2', '1000', '0', '-1', 'x'].map((limit) => query({ limit })),
  ...IDS.map((after) => query({ after, limit: '3' })),
  ...NAMES.flatMap((text) => [query({ q: text }), query({ tag: text })]),
  ...['ROS', 'x piperita', 'strasse', 'oeuvre', '木', '" OR *', `'a':* & !b`, '\\', 'quercus tree', '\0'].map(
    (q) => query({ q, limit: '4' }),
  ),
  query({ q: 'quercus', tag: 'tree', after: '0', limit: '2' }),
  query({ q: [...'abcdefghijklmnopqrstu'].join(' ') }),
  ...['b', 'a', 'B', 'ä', '', '￿', EMOJI].flatMap((tag, at) => [
    create(plant(400 + at, 'tie', tag)),
    create(plant(420 + at, 'tie', tag)),
  ]),
  get('/tags'),
  get('/tags?limit=2'),
  get('/tags?limit=0'),
  query({ unknown: '1' }),
]

const edits = [
  send('PUT', '/plants/500', '{"name":"new","tag":"t"}', { 'if-match': '*' }),
  send('PUT', '/plants/500', '{"name":"new","tag":"t"}', { 'if-none-match': '*' }),
  send('PUT', '/plants/500', '{"name":"new","tag":"t"}', { 'if-none-match': '*' }),
  get('/plants/500', { 'if-none-match': '{etag}' }),
  send('PUT', '/plants/500', plant(500, 'newer'), { 'if-match': '{etag}' }),
  send('PUT', '/plants/500', plant(501, 'other id')),
  send('PATCH', '/plants/500', '{"tag":"patched"}', { 'if-match': '{etag}' }),
  send('PATCH', '/plants/500', '{"tag":null}', { 'if-match': '"old"' }),
  send('PATCH', '/plants/500', '{"tag":null}', { 'if-match': 'malformed' }),
  send('PATCH', '/plants/500', '{"tag":null}', { 'content-type': 'application/merge-patch+json' }),
  send('PATCH', '/plants/500', '{}'),
  send('PATCH', '/plants/500', '{"name":null}'),
  send('PATCH', '/plants/999', '{"name":"a"}'),
  get('/plants/500'),
  { method: 'HEAD', path: '/plants/500' },
  remove('/plants/500', { 'if-match': '"old"' }),
  remove('/plants/500', { 'if-match': '{etag}' }),
  remove('/plants/500'),
  get('/plants/500'),
  create(plant(510, 'keyed'), { 'idempotency-key': 'key-1' }),
  create(plant(510, 'keyed'), { 'idempotency-key': 'key-1' }),
  create(plant(511, 'keyed'), { 'idempotency-key': 'key-1' }),
  create(plant(510, 'keyed'), { 'idempotency-key': 'key-2' }),
  create(plant(512, 'keyed'), { 'idempotency-key': 'k'.repeat(1_000) }),
  create(plant(513, 'typed'), { 'content-type': 'text/plain' }),
]

const tokens = [
  ...['', 'Bearer unknown', 'Bearer', 'Basic YTpi', `Bearer plst_${'0'.repeat(49)}`].map((authorization) =>
    get('/plants', { authorization }),
  ),
  send('POST', '/tokens', '{"scopes":["none"]}'),
  send('POST', '/tokens', '{"label":"\\u0000","scopes":["plants:read"]}'),
  send(
    'POST',
    '/tokens',
    `{"label":"${EMOJI}'","scopes":["plants:read"],"expiresAt":"2099-01-01T00:00:00Z"}`,
  ),
  get('/tokens'),
  get('/plants?limit=1', { authorization: 'Bearer {token}' }),
  create(plant(600, 'a'), { authorization: 'Bearer {token}' }),
  get('/tokens', { authorization: 'Bearer {token}' }),
  remove('/tokens/{token id}'),
  remove('/tokens/{token id}'),
  get('/plants?limit=1', { authorization: 'Bearer {token}' }),
  get('/tokens'),
  ...['/healthz', '/openapi.json', '/nowhere'].map((path) => get(path)),
]

const NDJSON = 'application/x-ndjson'
const importLines = (lines: readonly string[], parameters = '') =>
  send('POST', `/plants/import?${parameters}`, lines.join('\n'), { 'content-type': NDJSON })
const exportLines = (parameters = '') => get(`/plants?${parameters}`, { accept: NDJSON })
/** Plants with repeated ids, and lines that are not plants. */
const BULK_LINES = [
  ...NAMES.map((name, at) => plant(800 + (at % 7), name, NAMES.at(-1 - at))),
  ...IDS.map((id) => plant(id, `imported ${id}`)),
  ...WRONG_IDS.map((id) => plant(id, 'a')),
  plant(810, 'a\0'),
  '{"id":811,"name":"\\ud800"}',
  '{',
  '',
]

const bulk = [
  ...['dryRun=true', '', 'onConflict=skip', 'dryRun=true&onConflict=replace', 'onConflict=replace'].flatMap(
    (parameters) => [importLines(BULK_LINES, parameters), exportLines('after=799')],
  ),
  ...['', 'tag=tree', 'q=imported', 'q=imported&tag=tree&after=7', 'after=9223372036854775807', 'q='].map(
    exportLines,
  ),
  get('/plants/import'),
]

/** Requests that two engines are likely to store or read differently, in a meaningful order. */
export const NOTABLE_REQUESTS: readonly AgreementRequest[] = [
  ...creates,
  ...large,
  ...reads,
  ...edits,
  ...bulk,
  ...tokens,
]

/** Random requests about a few plants. */
export function randomRequests(count: number, seed: number): AgreementRequest[] {
  const id = fc.integer({ min: 700, max: 705 })
  const text = fc.oneof(
    fc.constantFrom(...NAMES),
    fc.string({ unit: 'grapheme' }),
    fc.string({ unit: 'binary' }),
  )
  const tag = fc.option(fc.constantFrom('tree', 'Tree', 'herb', EMOJI, ''), { nil: undefined })
  const precondition = fc.constantFrom({}, {}, { 'if-match': '{etag}' }, { 'if-none-match': '*' })
  const body = fc.tuple(id, text, tag).map(([number, name, kind]) => plant(number, name, kind))
  const at = id.map((number) => `/plants/${number}`)
  const request = fc.oneof(
    body.map((json) => create(json)),
    fc.tuple(body, precondition).map(([json, fields]) => {
      return send('PUT', `/plants/${/\d+/.exec(json)}`, json, fields)
    }),
    fc.tuple(at, text, precondition).map(([path, name, fields]) => {
      return send('PATCH', path, JSON.stringify({ name, tag: name.length % 2 ? null : 'herb' }), fields)
    }),
    fc.tuple(at, precondition).map(([path, fields]) => remove(path, fields)),
    at.map((path) => get(path)),
    text.map((q) => query({ q })),
    tag.map((kind) => query({ after: '699', ...(kind !== undefined && { tag: kind }) })),
    fc.constant(get('/tags')),
    fc.constant(exportLines('after=699')),
    fc
      .tuple(fc.array(body, { maxLength: 4 }), fc.constantFrom('fail', 'skip', 'replace'))
      .map(([lines, rule]) => importLines([...lines, ''], `onConflict=${rule}`)),
  )
  return fc.sample(request, { numRuns: count, seed })
}
