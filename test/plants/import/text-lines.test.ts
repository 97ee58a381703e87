import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createLineSplitter, LINE_BYTES_MAX } from '../../../src/plants/import/text-lines.ts'

interface Line {
  text: string
  /** The code of its fault. */
  fault?: number
}

/** The lines of a text that arrives in chunks of these sizes, repeatedly. */
function linesOf(text: Buffer, sizes: readonly number[]): Line[] {
  const splitter = createLineSplitter()
  const lines: Line[] = []
  function add({ text, faults }: ReturnType<typeof splitter.end>): void {
    const found: Line[] = text.split('\n').map((one) => ({ text: one }))
    assert.equal(found.pop()?.text, '', 'a line feed at the end of each line')
    for (const { at, fault } of faults) found[at] = { ...found[at], text: '', fault: fault.code }
    lines.push(...found)
  }
  for (let at = 0, chunk = 0; at < text.length; chunk++) {
    const size = sizes[chunk % sizes.length] ?? 1
    add(splitter.take(text.subarray(at, at + size)))
    at += size
  }
  add(splitter.end())
  return lines
}

test('lines are whole for all chunks of the text', () => {
  const texts = fc.array(
    fc.string({ unit: 'binary' }).filter((text) => !text.includes('\n')),
    { maxLength: 20 },
  )
  const sizes = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 5 })
  fc.assert(
    fc.property(texts, sizes, (wanted, sizes) => {
      const text = Buffer.from(wanted.map((line) => `${line}\n`).join(''))
      const expected = text
        .toString()
        .split('\n')
        .slice(0, -1)
        .map((line) => ({ text: line }))
      assert.deepEqual(linesOf(text, sizes), expected)
    }),
  )
})

test('the last line needs no line feed', () => {
  for (const size of [1, 2, 100]) {
    assert.deepEqual(linesOf(Buffer.from('a\n\nb'), [size]), [{ text: 'a' }, { text: '' }, { text: 'b' }])
    assert.deepEqual(linesOf(Buffer.from('a\n'), [size]), [{ text: 'a' }])
    assert.deepEqual(linesOf(Buffer.from(''), [size]), [])
  }
})

test('a line that is not UTF-8 has a fault, and its neighbours are whole', () => {
  const text = Buffer.concat([
    Buffer.from('é\n'),
    Buffer.from('caf\xe9\n', 'latin1'),
    Buffer.from('×\n'),
    Buffer.from('\xc3\n', 'latin1'),
    Buffer.from('🌱\n'),
    Buffer.from('\xed\xa0\x80', 'latin1'),
  ])
  for (const size of [1, 2, 3, 5, 100]) {
    assert.deepEqual(
      linesOf(text, [size]),
      [
        { text: 'é' },
        { text: '', fault: 40002 },
        { text: '×' },
        { text: '', fault: 40002 },
        { text: '🌱' },
        { text: '', fault: 40002 },
      ],
      `in chunks of ${size}`,
    )
  }
})

test('a line of exactly the limit is whole, and only a longer one has a fault', () => {
  const whole = 'x'.repeat(LINE_BYTES_MAX)
  const text = Buffer.from(`a\n${whole}\nb\n${whole}y\nc\n${whole.repeat(3)}\n${whole}z`)
  const expected = [
    { text: 'a' },
    { text: whole },
    { text: 'b' },
    { text: '', fault: 41301 },
    { text: 'c' },
    { text: '', fault: 41301 },
    { text: '', fault: 41301 },
  ]
  for (const size of [LINE_BYTES_MAX, LINE_BYTES_MAX - 1, 10_007, 3]) {
    assert.deepEqual(linesOf(text, [size]), expected, `in chunks of ${size}`)
  }
})

test('the line ending does not count as length of a line', () => {
  const whole = 'x'.repeat(LINE_BYTES_MAX)
  const text = Buffer.from(`${whole}\r\n${whole}y\r\n${whole}\r\na\r\n${whole}\ry\n${whole}\r`)
  const expected = [
    { text: `${whole}\r` },
    { text: '', fault: 41301 },
    { text: `${whole}\r` },
    { text: 'a\r' },
    { text: '', fault: 41301 },
    { text: `${whole}\r` },
  ]
  for (const size of [LINE_BYTES_MAX, LINE_BYTES_MAX - 1, 10_007, 3]) {
    assert.deepEqual(linesOf(text, [size]), expected, `in chunks of ${size}`)
  }
})
