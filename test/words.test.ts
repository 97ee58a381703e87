import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DOCUMENTS } from './docs/documents.ts'
import { RETIRED } from './support/retired-words.ts'
import { filesUnder, read } from './support/source-imports.ts'

/** Files whose subject the words are. */
const ABOUT_WORDS = ['CHANGELOG.md', 'docs/glossary.md']

const FILES = [
  ...DOCUMENTS.filter((file) => !ABOUT_WORDS.includes(file)),
  ...['.ts', '.sql'].flatMap((extension) => filesUnder('src', extension)),
  ...['.ts', '.tsx', '.css'].flatMap((extension) => filesUnder('web/app', extension)),
  'openapi.json',
]

/** Where retired words stand in the lines or the name of a file. */
function findingsIn(file: string): string[] {
  const lines = [file, ...read(file).split('\n')]
  return Object.values(RETIRED).flatMap(({ pattern, use }) =>
    lines.flatMap((line, index) => {
      const [found] = pattern.exec(line) ?? []
      return found === undefined ? [] : [`${file}:${index}: "${found}" -> ${use}`]
    }),
  )
}

test('the retired words are found, so that what follows means something', () => {
  for (const [text, word] of [
    ['sendAnswer', 'answer'],
    ['The request was refused', 'refuse'],
    ['a grace of a day', 'grace'],
  ] as const)
    assert.match(text, RETIRED[word].pattern)
  for (const text of ['ECONNREFUSED', 'a grace period', 'graceSeconds', '--grace-seconds', 'recommend'])
    for (const { pattern } of Object.values(RETIRED)) assert.doesNotMatch(text, pattern)
})

test('docs, code, web app and API use one word for one thing', () => {
  assert.deepEqual(FILES.flatMap(findingsIn), [])
})
