import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { read } from '../support/source-imports.ts'
import { DOCUMENTS, prose } from './documents.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

/** The anchors of a document, as GitHub makes them of headings. */
function anchorsOf(document: string): string[] {
  const headings = prose(document).matchAll(/^#+ (.*)$/gm)
  return [...headings].map(([, title = '']) =>
    title
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}_ -]/gu, '')
      .replaceAll(' ', '-'),
  )
}

test('every link leads to a file and a section that exist', () => {
  let links = 0
  for (const document of DOCUMENTS) {
    const targets = prose(document).matchAll(/\]\(([^)\s]+)\)|src="([^"]+)"/g)
    for (const [, link = '', image] of targets) {
      const target = image ?? link
      if (/^https?:/.test(target)) continue
      const [path = '', anchor] = target.split('#')
      const file = path === '' ? document : join(dirname(document), path)
      assert.ok(existsSync(join(ROOT, file)), `${document}: ${target}`)
      if (anchor !== undefined) assert.ok(anchorsOf(file).includes(anchor), `${document}: ${target}`)
      links++
    }
  }
  assert.ok(links > 60, String(links))
})

test('the picture of the README is in the repository', () => {
  const [, picture = ''] = /!\[[^\]]+\]\(([^)]+)\)/.exec(read('README.md')) ?? []
  assert.ok(existsSync(join(ROOT, picture)), picture)
})
