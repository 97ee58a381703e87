import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createCsvSplitter, RECORD_BYTES_MAX } from '../../../src/plants/import/csv-records.ts'
import { cpuTimeMs } from '../../support/process/cpu-time.ts'

const MIB = 1024 * 1024

type Seen = [line: number, cells: string[] | number]

/** The records of a text that comes in pieces of these sizes, over and over; of one at fault its code. */
async function recordsOf(text: string | Buffer, sizes: readonly number[] = [64 * 1024]): Promise<Seen[]> {
  const bytes = Buffer.from(text as string)
  const seen: Seen[] = []
  const splitter = createCsvSplitter((cells, line, fault) => seen.push([line, fault?.code ?? [...cells]]))
  for (let at = 0, piece = 0; at < bytes.length; piece++) {
    const size = sizes[piece % sizes.length] ?? 1
    await splitter.take(bytes.subarray(at, at + size))
    at += size
  }
  await splitter.end()
  return seen
}

const quoted = (cell: string) => `"${cell.replaceAll('"', '""')}"`

test('every table that is written as RFC 4180 says is read back, with the line of each record', async () => {
  const cell = fc.record({
    text: fc.string({ unit: fc.oneof(fc.constantFrom('"', ',', '\n', '\r\n', 'é', '🌱', ' '), fc.string()) }),
    isQuoted: fc.boolean(),
  })
  const row = fc.record({
    cells: fc.array(cell, { minLength: 1, maxLength: 4 }),
    ending: fc.constantFrom('\n', '\r\n'),
  })
  const sizes = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 5 })
  await fc.assert(
    fc.asyncProperty(fc.array(row, { maxLength: 8 }), sizes, async (rows, sizes) => {
      let text = ''
      const expected: Seen[] = []
      for (const { cells, ending } of rows) {
        const line = 1 + (text.match(/\r\n|\n|\r/g)?.length ?? 0)
        const written = cells.map((one) =>
          one.isQuoted || /[",\r\n]/.test(one.text) ? quoted(one.text) : one.text,
        )
        const record = written.join(',')
        expected.push([line, record === '' ? [] : cells.map((one) => one.text)])
        text += record + ending
      }
      assert.deepEqual(await recordsOf(text, sizes), expected)
    }),
    { numRuns: 300 },
  )
})

test('lines may end with LF, CRLF or CR, also in one text, and the last one in nothing', async () => {
  for (const size of [1, 2, 3, 100]) {
    assert.deepEqual(await recordsOf('a,b\r\nc\nd\re', [size]), [
      [1, ['a', 'b']],
      [2, ['c']],
      [3, ['d']],
      [4, ['e']],
    ])
    assert.deepEqual(await recordsOf('a\n\nb\n', [size]), [
      [1, ['a']],
      [2, []],
      [3, ['b']],
    ])
    assert.deepEqual(await recordsOf('', [size]), [])
  }
})

test('a blank line has no cell, and one of quotation marks alone has an empty one', async () => {
  for (const ending of ['\n', '\r\n', '\r']) {
    for (const size of [1, 2, 3, 100]) {
      assert.deepEqual(await recordsOf(['', '""', '', '', '""'].join(ending), [size]), [
        [1, []],
        [2, ['']],
        [3, []],
        [4, []],
        [5, ['']],
      ])
    }
  }
})

test('a quotation mark inside of a cell that does not begin with one is like any other character', async () => {
  assert.deepEqual(await recordsOf('1,5" pot,b"c"\n2,x,y\n'), [
    [1, ['1', '5" pot', 'b"c"']],
    [2, ['2', 'x', 'y']],
  ])
})

test('where it is not clear where a cell ends the record is at fault, and the next is read', async () => {
  for (const bad of ['"a"b', '"a" ', ' "a","b"c', '"a""b"c"', '""a', '"a"b"c"']) {
    for (const size of [1, 3, 100]) {
      assert.deepEqual(
        await recordsOf(`1,x\n2,${bad}\n3,"""y"", z"\n`, [size]),
        [
          [1, ['1', 'x']],
          [2, 40002],
          [3, ['3', '"y", z']],
        ],
        bad,
      )
    }
  }
})

test('a record that is not UTF-8 is at fault, and those around it are whole', async () => {
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
      await recordsOf(text, [size]),
      [
        [1, ['1', 'é']],
        [2, 40002],
        [3, 40002],
        [5, ['4', '×']],
        [6, 40002],
      ],
      JSON.stringify([ending, size]),
    )
  }
})

test('a record of exactly the limit is taken, and one that is longer is at fault by itself', async () => {
  const whole = `1,"${'x\n'.repeat(RECORD_BYTES_MAX / 2 - 3)}"`
    .padEnd(RECORD_BYTES_MAX, ' ')
    .replace(/" +$/, (end) => `${'y'.repeat(end.length - 1)}"`)
  const lines = whole.split('\n').length
  for (const size of [64 * 1024, 10_007, 257]) {
    const seen = await recordsOf(
      `a\n${whole}\nb\n${whole.slice(0, -1)}z"\nc\n${'y,'.repeat(RECORD_BYTES_MAX)}\nd`,
      [size],
    )
    assert.deepEqual(
      seen.map(([line, cells]) => [line, typeof cells === 'number' ? cells : cells[0]]),
      [
        [1, 'a'],
        [2, '1'],
        [2 + lines, 'b'],
        [3 + lines, 41301],
        [3 + 2 * lines, 'c'],
        [4 + 2 * lines, 41301],
        [5 + 2 * lines, 'd'],
      ],
      `in pieces of ${size}`,
    )
  }
})

test('the line ending does not count for how long a record is', async () => {
  for (const ending of ['\n', '\r\n', '\r']) {
    for (const size of [64 * 1024, 32 * 1024 + 1, 10_007, 7]) {
      for (const more of [0, 1]) {
        const record = `1,${'x'.repeat(RECORD_BYTES_MAX - 2 + more)}`
        const seen = await recordsOf(`a${ending}${record}${ending}${record}${ending}b,c${ending}${record}`, [
          size,
        ])
        assert.deepEqual(
          seen.map(([line, cells]) => [line, typeof cells === 'number' ? cells : cells.length]),
          [1, 2, 3, 4, 5].map((line) => [line, line === 1 ? 1 : line === 4 || more === 0 ? 2 : 41301]),
          `${JSON.stringify(ending)} in pieces of ${size}, ${more} more`,
        )
      }
    }
  }
})

test('a quotation mark that is never closed is told with its line, after a mebibyte at the latest', async () => {
  const message = (line: number) => ({
    code: 40002,
    message: new RegExp(`^The row that begins on line ${line} has `),
  })
  await assert.rejects(recordsOf('a,b\n1,"x\n2,y\n'), message(2))
  await assert.rejects(recordsOf('a,b\n"1\n2",x\n3,"', [1]), message(4))
  const splitter = createCsvSplitter(() => {})
  await splitter.take(Buffer.from('a,b\n1,"'))
  const piece = Buffer.alloc(64 * 1024, 'x\n')
  let bytes = 0
  await assert.rejects(async () => {
    for (; bytes < 10 * MIB; bytes += piece.length) await splitter.take(piece)
  }, message(2))
  assert.ok(bytes <= MIB, `${bytes} bytes`)
})

test('a record of empty cells has no more room than any other', async () => {
  for (const cells of [',', '"",', '"","",x,']) {
    const splitter = createCsvSplitter(() => {})
    await splitter.take(Buffer.from('a,b\n1,2\n'))
    const piece = Buffer.alloc(32 * 1024, cells)
    let bytes = 0
    await assert.rejects(
      async () => {
        for (; bytes < 10 * MIB; bytes += piece.length) await splitter.take(piece)
      },
      { code: 40002, message: /^The row that begins on line 3 has no end within a mebibyte/ },
      cells,
    )
    assert.ok(bytes <= MIB, `${bytes} bytes of ${cells}`)
  }
})

test('how long a record may be does not depend on the pieces in which it comes', async () => {
  const longest = Buffer.from(`a\n${','.repeat(MIB - 1)}\nb\n`)
  for (const size of [10_007, 3 * MIB]) {
    assert.deepEqual(await recordsOf(longest, [size]), [
      [1, ['a']],
      [2, 41301],
      [3, ['b']],
    ])
    await assert.rejects(recordsOf(`a\n${','.repeat(MIB)}\nb\n`, [size]), { code: 40002 })
  }
})

test('rows with another number of cells than the first take no longer than others', async () => {
  const elapsedMs = (row: string) => {
    const text = `id,name,tag\n${row.repeat(200_000)}`
    return cpuTimeMs(() => recordsOf(text, [32 * 1024]))
  }
  await elapsedMs('1,abc,\n')
  const evenMs = await elapsedMs('1,abc,\n')
  for (const row of ['1,abc\n', '1,abc,,\n', '\n', '\r\n']) {
    const oddMs = await elapsedMs(row)
    assert.ok(oddMs < 4 * evenMs, `${JSON.stringify(row)}: ${oddMs} ms, others ${evenMs} ms`)
  }
})

test('no odd record takes long to judge', async () => {
  for (const bad of [
    '"a"b,'.repeat(10_000),
    `"a"b${'""'.repeat(30_000)}`,
    `"a"b${',"x"'.repeat(15_000)},"y"z`,
  ]) {
    assert.ok((await cpuTimeMs(() => recordsOf(`${bad}\n1,x\n`))) < 2_000, bad.slice(0, 20))
  }
})
