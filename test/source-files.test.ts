import assert from 'node:assert/strict'
import { basename, dirname, extname } from 'node:path'
import { test } from 'node:test'
import { filesUnder, read } from './support/source-imports.ts'

const FILE_LINES_MAX = 250
const LINE_CHARACTERS_MAX = 120
const FOLDER_FILES_MAX = 25

/** Written by programs. */
const GENERATED = ['src/client/plant-types.ts', 'src/client/error-codes.ts']

const SOURCES = ['.ts', '.tsx', '.css', '.sql'].flatMap((extension) =>
  ['src', 'web/app'].flatMap((folder) => filesUnder(folder, extension)),
)
const CODE = SOURCES.filter((file) => /^\.tsx?$/.test(extname(file)))
const TESTS = filesUnder('test', '.ts')

test('a file has 250 lines at most', () => {
  assert.ok(SOURCES.length > 300)
  assert.deepEqual(
    [...SOURCES, ...TESTS].filter((file) => read(file).trimEnd().split('\n').length > FILE_LINES_MAX),
    [],
  )
})

test('a line has 120 characters at most, except a text that cannot be broken', () => {
  const long = SOURCES.filter((file) => !GENERATED.includes(file)).flatMap((file) =>
    read(file)
      .split('\n')
      .map((line, index) => ({ line, place: `${file}:${index + 1}` }))
      .filter(({ line }) => line.length > LINE_CHARACTERS_MAX && !/(['`]).{40,}\1/.test(line)),
  )
  assert.deepEqual(
    long.map(({ place }) => place),
    [],
  )
})

test('a folder has 25 files at most', () => {
  const folders = Object.entries(Object.groupBy(SOURCES, (file) => dirname(file)))
  assert.deepEqual(
    folders.filter(([, files = []]) => files.length > FOLDER_FILES_MAX).map(([folder]) => folder),
    [],
  )
})

test('a file is named for what it exports, in kebab-case, and no name is a drawer', () => {
  const drawer =
    /^(?:index|types|misc|shared)$|\b(?:utils?|helpers?|common|managers?|services?|handlers?|data)$/
  for (const file of [...SOURCES, ...TESTS]) {
    const name = basename(file, extname(file)).replace(/\.test$/, '')
    assert.match(name, /^[a-z0-9]+(-[a-z0-9]+)*$/, file)
    // `described-service` is a service of a test.
    assert.doesNotMatch(
      name,
      SOURCES.includes(file) ? drawer : /^(?:index|types|misc|shared|utils?|helpers?|common|data)$/,
      file,
    )
  }
})

test('there is no default export, no file that only re-exports, and no test with only', () => {
  for (const file of [...CODE, ...TESTS]) {
    const text = read(file)
    assert.doesNotMatch(text, /^export default|^export \{[^}]*\bas default\b/m, file)
    assert.doesNotMatch(text, /^\s*(?:test|describe|it)\.only\(|\bonly: true/m, file)
  }
  for (const file of CODE) assert.doesNotMatch(read(file), /^export (?:type )?(?:\*|\{[^}]*\}) .*from/m, file)
})

test('a class is an error, or owns the state that it is named for', () => {
  const classes = CODE.flatMap((file) => read(file).match(/^(?:export )?class .*(?=\{)/gm) ?? [])
  assert.ok(classes.length > 5)
  for (const line of classes)
    assert.match(
      line,
      / extends (?:Setup|App)?Error\b|^export class (PlantPages|BoundedQueue|CallerRotation|ImportSlicer)\b/,
    )
})
