import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { read } from '../support/source-imports.ts'
import { codeBlocks, DOCUMENTS, inlineCode, prose } from './documents.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
/** Folders that a build creates, and files that are about to land. */
const BUILT = ['web/dist', 'src/plants/import/row-scanner.ts', 'src/plants/import/table-dialect.ts']

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

test('every path that a document names exists', () => {
  // A clone has them all from git, an unpacked source tree from the disk.
  const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
    cwd: ROOT,
    encoding: 'utf8',
  }).split('\n')
  const names = new Set(files.map((file) => basename(file)))
  const missing = DOCUMENTS.flatMap((document) =>
    [...inlineCode(document), ...roomsOf(document)]
      .filter((code) => /^[\w.@/-]+$/.test(code) && !isPathThere(code, names))
      .map((code) => `${document}: ${code}`),
  )
  assert.deepEqual(missing, [])
})

/** The paths at the beginning of a line in the map of ARCHITECTURE. */
const roomsOf = (document: string) =>
  codeBlocks(document, 'text').flatMap((block) => [...block.matchAll(/^[\w./-]+/gm)].map(([path]) => path))

/** True unless the code is a path of the project that does not exist. Decisions name files from src on. */
function isPathThere(code: string, names: ReadonlySet<string>): boolean {
  const isInFolder = /^(?:\.ci|src|web|test|build|bench|deploy|ops|docs)\//.test(code)
  const isSource = /\w\.(?:tsx?|sql)$/.test(code)
  if (!isInFolder && !isSource) return true
  if (BUILT.some((folder) => code.startsWith(folder))) return true
  if (!code.includes('/')) return names.has(code)
  return existsSync(join(ROOT, code)) || existsSync(join(ROOT, 'src', code))
}

test('the picture of the README is in the repository', () => {
  const [, picture = ''] = /!\[[^\]]+\]\(([^)]+)\)/.exec(read('README.md')) ?? []
  assert.ok(existsSync(join(ROOT, picture)), picture)
})
