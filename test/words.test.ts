import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DOCUMENTS } from './docs/documents.ts'
import { RETIRED } from './support/retired-words.ts'
import { filesUnder, read } from './support/source-imports.ts'

/** Files whose subject the words are. */
const ABOUT_WORDS = [
  'CHANGELOG.md',
  'docs/glossary.md',
  'test/support/retired-words.ts',
  'test/words.test.ts',
]

/** Data of tests and texts of other programs that stay as they are, by file. */
const QUOTED: Record<string, readonly string[]> = {
  'test/cli/commands/import-command.test.ts': ['\\told\\t'],
  'test/storage/sqlite/connection/open-connection.test.ts': ['Dear diary'],
  'test/support/postgres/postgres-server.test.ts': ['Connection refused'],
  'test/tokens/routes/token-rotation-routes.test.ts': ['"grace":0', "name: 'grace'"],
}

const FILES = [
  ...DOCUMENTS,
  ...['.ts', '.sql'].flatMap((extension) => filesUnder('src', extension)),
  ...['test', 'bench', 'build'].flatMap((folder) => filesUnder(folder, '.ts')),
  ...['.js', '.lua'].flatMap((extension) => filesUnder('bench', extension)),
  ...['.ts', '.tsx', '.css'].flatMap((extension) => filesUnder('web/app', extension)),
  'openapi.json',
].filter((file) => !ABOUT_WORDS.includes(file))

/** Where retired words stand in the lines or the name of a file. */
function findingsIn(file: string): string[] {
  const text = (QUOTED[file] ?? []).reduce((rest, quoted) => rest.replaceAll(quoted, ''), read(file))
  const lines = [file, ...text.split('\n')]
  return Object.values(RETIRED).flatMap(({ pattern, use }) =>
    lines.flatMap((line, index) => {
      const [found] = pattern.exec(line) ?? []
      return found === undefined ? [] : [`${file}:${index}: "${found}" -> ${use}`]
    }),
  )
}

test('the patterns match retired words and nothing else', () => {
  for (const [text, word] of [
    ['sendAnswer', 'answer'],
    ['The request was refused', 'refuse'],
    ['a grace of a day', 'grace'],
  ] as const)
    assert.match(text, RETIRED[word].pattern)
  for (const text of ['ECONNREFUSED', 'a grace period', 'graceSeconds', '--grace-seconds', 'recommend'])
    for (const { pattern } of Object.values(RETIRED)) assert.doesNotMatch(text, pattern)
})

test('every quoted text is still there', () => {
  for (const [file, texts] of Object.entries(QUOTED))
    for (const text of texts) assert.ok(read(file).includes(text), `${file}: ${text}`)
})

test('docs, code, tests, benchmarks, web app and API use one word for one thing', () => {
  assert.deepEqual(FILES.flatMap(findingsIn), [])
})
