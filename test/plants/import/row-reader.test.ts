import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createRowReader } from '../../../src/plants/import/row-reader.ts'
import { RowEndError } from '../../../src/plants/import/row-scanner.ts'
import {
  COLUMN_MEMBERS,
  cellText,
  DELIMITERS,
  ROW_BYTES_MAX,
} from '../../../src/plants/import/table-dialect.ts'
import { CONTENT_MEMBERS } from '../../../src/plants/plant.ts'
import { CSV_HEADER, storedPlantCsv } from '../../../src/plants/plant-csv.ts'
import { rowsOf, type Seen } from './read-rows.ts'

const MIB = 1024 * 1024

const texts = fc.string({
  unit: fc.oneof(
    fc.constantFrom('"', ',', ';', '\t', '\n', '\r', '\r\n', ' ', 'é', '🌱', '\ufeff', '\ufffd'),
    fc.string(),
  ),
})
const chunkSizes = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 5 })

test('every table is read as it was written, with the line of each row, for all delimiters and chunks', () => {
  const row = fc.record({
    cells: fc.array(texts, { minLength: 1, maxLength: 4 }),
    ending: fc.constantFrom('\n', '\r\n', '\r'),
  })
  const tables = fc.array(row, { maxLength: 8 })
  fc.assert(
    fc.property(tables, chunkSizes, fc.constantFrom(...DELIMITERS), (rows, sizes, delimiter) => {
      let text = ''
      const expected: Seen[] = []
      for (const { cells, ending } of rows) {
        expected.push([1 + (text.match(/\r\n|\n|\r/g)?.length ?? 0), cells])
        text += cells.map((one) => cellText(one, delimiter)).join(delimiter) + ending
      }
      assert.deepEqual(rowsOf(text, sizes, delimiter), expected)
    }),
    { numRuns: 500 },
  )
})

test('lines end with LF, CRLF or CR, also mixed, and the last one needs no line ending', () => {
  for (const size of [1, 2, 3, 100]) {
    assert.deepEqual(rowsOf('a,b\r\nc\nd\re', [size]), [
      [1, ['a', 'b']],
      [2, ['c']],
      [3, ['d']],
      [4, ['e']],
    ])
    assert.deepEqual(rowsOf('a\n\nb\n', [size]), [
      [1, ['a']],
      [2, []],
      [3, ['b']],
    ])
    assert.deepEqual(rowsOf('', [size]), [])
  }
})

test('a blank line has no cell, and a line of two quotation marks has an empty cell', () => {
  for (const ending of ['\n', '\r\n', '\r']) {
    for (const size of [1, 2, 3, 100]) {
      assert.deepEqual(rowsOf(['', '""', '', '', '""'].join(ending), [size]), [
        [1, []],
        [2, ['']],
        [3, []],
        [4, []],
        [5, ['']],
      ])
    }
  }
})

test('a quotation mark inside an unquoted cell is an ordinary character', () => {
  assert.deepEqual(rowsOf('1,5" pot,b"c"\n2,x,y\n'), [
    [1, ['1', '5" pot', 'b"c"']],
    [2, ['2', 'x', 'y']],
  ])
})

test('a row with text after a closing quotation mark fails, and the next row is read', () => {
  for (const bad of ['"a"b', '"a" ', ' "a","b"c', '"a""b"c"', '""a', '"a"b"c"']) {
    for (const size of [1, 3, 100]) {
      assert.deepEqual(
        rowsOf(`1,x\n2,${bad}\n3,"""y"", z"\n`, [size]),
        [
          [1, ['1', 'x']],
          [2, 'misquoted'],
          [3, ['3', '"y", z']],
        ],
        bad,
      )
    }
  }
})

test('a row that is not UTF-8 fails, and its neighbours are read', () => {
  for (const [ending, size] of [
    ['\n', 1],
    ['\r\n', 3],
    ['\r', 2],
    ['\n', 1000],
    ['\r', 1000],
  ] as const) {
    const lines = ['1,\xc3\xa9', '2,caf\xe9', '3,"\xe9', '",x', '4,\xc3\x97', '5,\xe9']
    const text = Buffer.from(lines.join(ending), 'latin1')
    assert.deepEqual(
      rowsOf(text, [size]),
      [
        [1, ['1', 'é']],
        [2, 'notUtf8'],
        [3, 'notUtf8'],
        [5, ['4', '×']],
        [6, 'notUtf8'],
      ],
      JSON.stringify([ending, size]),
    )
  }
})

test('a row of exactly the limit is read, and only a longer one fails', () => {
  const whole = `1,"${'x\n'.repeat(ROW_BYTES_MAX / 2 - 3)}"`
    .padEnd(ROW_BYTES_MAX, ' ')
    .replace(/" +$/, (end) => `${'y'.repeat(end.length - 1)}"`)
  const lines = whole.split('\n').length
  for (const size of [64 * 1024, 10_007, 257]) {
    const seen = rowsOf(`a\n${whole}\nb\n${whole.slice(0, -1)}z"\nc\n${'y,'.repeat(ROW_BYTES_MAX)}\nd`, [
      size,
    ])
    assert.deepEqual(
      seen.map(([line, cells]) => [line, typeof cells === 'string' ? cells : cells[0]]),
      [
        [1, 'a'],
        [2, '1'],
        [2 + lines, 'b'],
        [3 + lines, 'tooLong'],
        [3 + 2 * lines, 'c'],
        [4 + 2 * lines, 'tooLong'],
        [5 + 2 * lines, 'd'],
      ],
      `in chunks of ${size}`,
    )
  }
})

test('the line ending does not count as length of a row', () => {
  for (const ending of ['\n', '\r\n', '\r']) {
    for (const size of [64 * 1024, 32 * 1024 + 1, 10_007, 7]) {
      for (const more of [0, 1]) {
        const row = `1,${'x'.repeat(ROW_BYTES_MAX - 2 + more)}`
        const seen = rowsOf(`a${ending}${row}${ending}${row}${ending}b,c${ending}${row}`, [size])
        assert.deepEqual(
          seen.map(([line, cells]) => [line, typeof cells === 'string' ? cells : cells.length]),
          [1, 2, 3, 4, 5].map((line) => [line, line === 1 ? 1 : line === 4 || more === 0 ? 2 : 'tooLong']),
          `${JSON.stringify(ending)} in chunks of ${size}, ${more} more`,
        )
      }
    }
  }
})

test('a quotation mark that is never closed is reported with its line, after 1 MiB at the latest', () => {
  assert.throws(() => rowsOf('a,b\n1,"x\n2,y\n'), new RowEndError(2, 'quoteNotClosed'))
  assert.throws(() => rowsOf('a,b\n"1\n2",x\n3,"', [1]), new RowEndError(4, 'quoteNotClosed'))
  const reader = createRowReader(() => {})
  reader.read(Buffer.from('a,b\n1,"'))
  const chunk = Buffer.alloc(64 * 1024, 'x\n')
  let bytes = 0
  assert.throws(() => {
    for (; bytes < 10 * MIB; bytes += chunk.length) reader.read(chunk)
  }, new RowEndError(2, 'tooFar'))
  assert.ok(bytes <= MIB, `${bytes} bytes`)
})

test('a row of empty cells has the same limit as any other', () => {
  for (const cells of [',', '"",', '"","",x,']) {
    const reader = createRowReader(() => {})
    reader.read(Buffer.from('a,b\n1,2\n'))
    const chunk = Buffer.alloc(32 * 1024, cells)
    let bytes = 0
    assert.throws(
      () => {
        for (; bytes < 10 * MIB; bytes += chunk.length) reader.read(chunk)
      },
      new RowEndError(3, 'tooFar'),
      cells,
    )
    assert.ok(bytes <= MIB, `${bytes} bytes of ${cells}`)
  }
})

test('the limit of a row does not depend on its chunks', () => {
  const longest = Buffer.from(`a\n${','.repeat(MIB - 1)}\nb\n`)
  for (const size of [10_007, 3 * MIB]) {
    assert.deepEqual(rowsOf(longest, [size]), [
      [1, ['a']],
      [2, 'tooLong'],
      [3, ['b']],
    ])
    assert.throws(() => rowsOf(`a\n${','.repeat(MIB)}\nb\n`, [size]), new RowEndError(2, 'tooFar'))
  }
})

test('the columns of the dialect are the members of a plant', () => {
  assert.deepEqual(COLUMN_MEMBERS, ['id', ...CONTENT_MEMBERS.map(({ name }) => name)])
})

test('any text is unchanged by the CSV export and the reader', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(texts, fc.option(texts, { nil: undefined }))),
      chunkSizes,
      (plants, sizes) => {
        const times = { createdAtMs: 0, updatedAtMs: 0, version: 1 }
        const rows = plants.map(([name, tag], at) =>
          storedPlantCsv({ id: BigInt(at), name, ...(tag !== undefined && { tag }), ...times }),
        )
        const read = rowsOf(CSV_HEADER + rows.join(''), sizes).slice(1)
        assert.deepEqual(
          read.map(([, cells]) => cells.slice(0, 3)),
          plants.map(([name, tag = ''], at) => [String(at), name, tag]),
        )
      },
    ),
    { numRuns: 500 },
  )
})
