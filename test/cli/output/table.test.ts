import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { test } from 'node:test'
import stringWidth from 'string-width'
import { createTable, type TableColumn } from '../../../src/cli/output/table.ts'
import { cpuTimeMs } from '../../support/process/cpu-time.ts'

const COLUMNS: TableColumn[] = [
  { title: 'ID', isNumber: true },
  { title: 'NAME', isTruncatable: true },
  { title: 'TAG' },
]
const terminal = (columns: number) => Object.assign(new PassThrough(), { isTTY: true, columns })
const pipe = new PassThrough()

test('columns are aligned by width on the terminal: wide characters, combining marks and emoji', () => {
  const rows = [
    ['1', '植物', 'a'],
    ['-9223372036854775808', 'e\u0301tude', 'b'],
    ['3', '🌳🌳', 'c'],
  ]
  const lines = createTable(COLUMNS, terminal(80))(rows).trimEnd().split('\n')
  assert.equal(lines.length, 4)
  const beforeTag = lines.slice(1).map((line) => stringWidth(line.slice(0, -1)))
  assert.deepEqual(new Set(beforeTag).size, 1, lines.join('\n'))
  assert.match(lines[1] ?? '', /^ {19}1 {2}植物 /)
})

test('no line is wider than the terminal: cells are truncated between characters', () => {
  const rows = [
    ['1', `${'植'.repeat(60)}`, 'tree'],
    ['2', `a${'e\u0301'.repeat(80)}`, 'tree'],
  ]
  for (const width of [30, 31, 40]) {
    for (const line of createTable(COLUMNS, terminal(width))(rows).trimEnd().split('\n')) {
      assert.ok(stringWidth(line) <= width, line)
      if (!line.includes('ID')) assert.match(line, /… +tree$/)
      assert.ok(!line.includes('e…'), 'no letter loses its accent')
    }
  }
})

test('on a terminal of unknown width nothing is truncated', () => {
  const name = 'n'.repeat(200)
  assert.ok(createTable(COLUMNS, terminal(0))([['1', name, 'tree']]).includes(name))
})

test('a name of a million characters is truncated quickly', async () => {
  const row = ['1', 'x'.repeat(1_000_000), 'tree']
  let text = ''
  const tookMs = await cpuTimeMs(() => {
    text = createTable(COLUMNS, terminal(80))([row])
  })
  assert.ok(text.length < 200)
  assert.ok(tookMs < 200, `${tookMs} ms`)
})

test('no cell can control the terminal, break its line or change the direction of text', () => {
  const hostile = 'a\u001b[31mb\u009bc\nd\te\u202ef\u2028g\u0007h\u007fi'
  for (const stream of [terminal(200), pipe]) {
    const text = createTable(COLUMNS, stream)([['1', hostile, 'x']])
    assert.ok(text.includes('a\\u001b[31mb\\u009bc\\nd\\te\\u202ef\\u2028g\\u0007h\\u007fi'), text)
  }
})

test('in a pipe there is no header, and nothing is truncated or padded', () => {
  const name = 'n'.repeat(5_000)
  assert.equal(
    createTable(
      COLUMNS,
      pipe,
    )([
      ['1', name, ''],
      ['20', 'b', 'c'],
    ]),
    `1\t${name}\t\n20\tb\tc\n`,
  )
})

test('later rows keep the column widths of the first ones', () => {
  const table = createTable(COLUMNS, terminal(40))
  const first = table([['1', 'abc', 'x']])
  const second = table([['2', 'd', 'y']])
  assert.equal(first.split('\n').length - 1, 2)
  assert.equal(second, ' 2  d     y\n')
})
