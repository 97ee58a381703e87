import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type PickOptions, pickRows } from '../../../src/cli/files/picked-rows.ts'
import { createRowReader } from '../../../src/plants/import/row-reader.ts'

const CSV: PickOptions = {
  format: 'csv',
  delimiter: ',',
  wideEncoding: undefined,
  hasHeader: true,
  isNumbered: false,
}

async function* piecesOf(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

async function pick(
  bytes: Buffer | string,
  lines: readonly (number | [number, bigint])[],
  options: Partial<PickOptions> = {},
  size = 7,
): Promise<Buffer> {
  const wanted = new Map(lines.map((line) => (typeof line === 'number' ? [line, undefined] : line)))
  const picked: Buffer[] = []
  for await (const chunk of pickRows(piecesOf(Buffer.from(bytes), size), wanted, { ...CSV, ...options })) {
    picked.push(chunk)
  }
  return Buffer.concat(picked)
}

test('the header and the wanted rows of CSV are yielded unchanged, over all their lines', async () => {
  const csv = 'id,name\r\n1,"a ""b""\r\nc"\r\n2,b\r\n3,"x,\ny"\n4,d'
  assert.equal(String(await pick(csv, [2, 5])), 'id,name\r\n1,"a ""b""\r\nc"\r\n3,"x,\ny"\n')
  assert.equal(String(await pick(csv, [7])), 'id,name\r\n4,d')
  assert.equal(String(await pick('\n\nid,name\n1,a\n', [4])), 'id,name\n1,a\n', 'blank lines are no header')
  assert.equal(String(await pick('1,a\r2,b\r', [2], { hasHeader: false })), '2,b\r')
})

test('the wanted lines of NDJSON are yielded, with any quotation marks and carriage returns', async () => {
  const ndjson = '{"id":1}\n{"id":"\r"\n\n"}\n'
  const options = { format: 'ndjson', hasHeader: false } as const
  assert.equal(String(await pick(ndjson, [2, 4], options)), '{"id":"\r"\n"}\n')
})

test('a byte order mark and the bytes of another encoding are retained', async () => {
  const bytes = Buffer.concat([
    Buffer.from('id,name\n'),
    Buffer.from([0x31, 0x2c, 0xe9, 0xff, 0x0a]),
    Buffer.from('2,b\n'),
  ])
  assert.deepEqual(await pick(bytes, [2]), bytes.subarray(0, -4))
  for (const size of [1, 2, 7]) {
    assert.equal(String(await pick('\ufeff"id",name\n1,a\n2,b\n', [3], {}, size)), '\ufeff"id",name\n2,b\n')
  }
})

test('UTF-16 is read two bytes at a time, in both orders', async () => {
  const text = '\ufeffid,name\r\n1,"Ā\r\nĊ"\r\n2,ഊ∢\r\n3,c\r\n'
  const little = Buffer.from(text, 'utf16le')
  const wanted = Buffer.from('\ufeffid,name\r\n2,ഊ∢\r\n', 'utf16le')
  assert.deepEqual(await pick(little, [4], { wideEncoding: 'utf-16le' }), wanted)
  const big = Buffer.from(little).swap16()
  assert.deepEqual(await pick(big, [4], { wideEncoding: 'utf-16be' }), Buffer.from(wanted).swap16())
})

test('numbered rows get their ids as a column, and another id column is renamed', async () => {
  const numbered = { isNumbered: true }
  assert.equal(
    String(await pick('name, "ID" ,tag\na,9,x\nb,8,y\n', [[3, -5n]], numbered)),
    'id,name, "former_id" ,tag\n-5,b,8,y\n',
  )
  assert.equal(
    String(await pick('\ufeffa,x\nb,y\n', [[1, 7n]], { ...numbered, hasHeader: false })),
    '\ufeff7,a,x\n',
  )
})

test('a row of many megabytes is not held in memory', async () => {
  const long = `{"id":1,"name":"${'x'.repeat(20_000_000)}"}\n`
  let bytes = 0
  let largest = 0
  const options = { ...CSV, format: 'ndjson', hasHeader: false } as const
  for await (const chunk of pickRows(
    piecesOf(Buffer.from(long), 65_536),
    new Map([[1, undefined]]),
    options,
  )) {
    bytes += chunk.length
    largest = Math.max(largest, chunk.length)
  }
  assert.deepEqual([bytes, largest], [long.length, 65_536])
})

test('rows and lines are counted as by the service, with any bytes between commas and quotation marks', async () => {
  const text = fc.array(fc.constantFrom('a', ',', '"', '""', '\n', '\r', '\r\n', ' ', 'é'), { maxLength: 40 })
  await fc.assert(
    fc.asyncProperty(text, fc.integer({ min: 1, max: 9 }), async (parts, size) => {
      const csv = Buffer.from(parts.join(''))
      const lines: number[] = []
      const reader = createRowReader(({ line }) => lines.push(line))
      try {
        reader.read(csv)
        reader.end()
      } catch {
        // An unclosed quotation mark ends the import.
        return
      }
      const rows = await Promise.all(lines.map((line) => pick(csv, [line], { hasHeader: false }, size)))
      assert.equal(Buffer.concat(rows).toString(), csv.toString())
      assert.ok(rows.every(({ length }) => length > 0))
    }),
    { numRuns: 2_000 },
  )
})
