import assert from 'node:assert/strict'
import { dirname } from 'node:path'
import { test } from 'node:test'
import { filesUnder, type Import, importsOf } from './support/source-imports.ts'

const FILES = ['.ts', '.tsx'].flatMap((extension) => [
  ...filesUnder('src', extension),
  ...filesUnder('web/app', extension),
])

/** The children of a folder that import each other: every circle as `folder: child, child`. */
function circlesIn(folder: string, imports: readonly Import[]): string[] {
  const prefix = `${folder}/`
  const childOf = (file: string) =>
    file.startsWith(prefix) ? file.slice(prefix.length).split('/')[0] : undefined
  const targetsOf = new Map<string, Set<string>>()
  for (const { file, target } of imports) {
    const [from, to] = [childOf(file), childOf(target)]
    if (from === undefined || to === undefined || from === to) continue
    targetsOf.set(from, (targetsOf.get(from) ?? new Set()).add(to))
  }
  const reachedFrom = new Map([...targetsOf.keys()].map((child) => [child, reached(child, targetsOf)]))
  const circles = [...reachedFrom].map(([child, all]) =>
    [...all].filter((other) => other === child || reachedFrom.get(other)?.has(child)).sort(),
  )
  return [...new Set(circles.filter(({ length }) => length > 1).map((all) => `${folder}: ${all.join(', ')}`))]
}

/** Every child that one imports, directly or through others. */
function reached(child: string, targetsOf: ReadonlyMap<string, ReadonlySet<string>>): Set<string> {
  const found = new Set<string>()
  const left = [...(targetsOf.get(child) ?? [])]
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    if (found.has(next)) continue
    found.add(next)
    left.push(...(targetsOf.get(next) ?? []))
  }
  return found
}

/** The folders of a file, from the outermost on. */
function foldersOf(file: string): string[] {
  const folder = dirname(file)
  return folder === '.' ? [] : [...foldersOf(folder), folder]
}

test('the search finds a circle', () => {
  const edge = (file: string, target: string) => ({ file, target, isTypeOnly: true, isDynamic: false })
  const imports = [
    edge('a/one/x.ts', 'a/two.ts'),
    edge('a/two.ts', 'a/three/y.ts'),
    edge('a/three/z.ts', 'a/one/w.ts'),
  ]
  assert.deepEqual(circlesIn('a', imports), ['a: one, three, two.ts'])
  assert.deepEqual(circlesIn('a', imports.slice(1)), [])
})

test('the files and folders inside every folder import each other one way, types included', () => {
  const imports = FILES.flatMap(importsOf)
  const folders = new Set(FILES.flatMap(foldersOf))
  assert.ok(folders.size > 40)
  const circles = [...folders].flatMap((folder) => circlesIn(folder, imports))
  assert.deepEqual(circles, [])
})
