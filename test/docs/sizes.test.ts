import assert from 'node:assert/strict'
import { test } from 'node:test'
import { read } from '../support/source-imports.ts'
import { DECISIONS, GUIDES, PAGES } from './documents.ts'

const lineCount = (document: string) => read(document).split('\n').length - 1

test('the README can be read in a few minutes', () => {
  assert.ok(lineCount('README.md') <= 160, String(lineCount('README.md')))
  const words = read('README.md').split(/\s+/).length
  assert.ok(words <= 1300, String(words))
  const [, list = ''] = /\n\n((?:- .*\n)+)/.exec(read('README.md')) ?? []
  const bullets = list.trim().split('\n')
  assert.equal(bullets.length, 6)
  for (const bullet of bullets) assert.ok(bullet.split(' ').length - 1 <= 12, bullet)
})

test('every page and decision, ARCHITECTURE and CONTRIBUTING stay short', () => {
  for (const document of [...PAGES, ...DECISIONS])
    assert.ok(lineCount(document) <= 200, `${document}: ${lineCount(document)}`)
  assert.ok(lineCount('ARCHITECTURE.md') <= 150, String(lineCount('ARCHITECTURE.md')))
  assert.ok(lineCount('CONTRIBUTING.md') <= 80, String(lineCount('CONTRIBUTING.md')))
})

test('every page of docs is linked from the README', () => {
  for (const page of PAGES) assert.ok(read('README.md').includes(`](${page}`), page)
})

test('a page begins with a heading and has no other of the first level', () => {
  for (const guide of GUIDES) {
    const text = read(guide).replaceAll(/^```.*?^```$/gms, '')
    assert.match(text, /^# /, guide)
    assert.equal([...text.matchAll(/^# /gm)].length, 1, guide)
  }
})
