import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { AppError } from '../../../src/errors.ts'
import { decodeText } from '../../../src/plants/import/decode-text.ts'

/** Decodes a text in chunks of `size` bytes to UTF-8. */
async function decoded(bytes: Buffer, size: number, encoding?: string): Promise<Buffer> {
  async function* chunks() {
    for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
  }
  const out: Buffer[] = []
  for await (const chunk of decodeText(chunks(), encoding, (found) => `It is ${found}.`)) out.push(chunk)
  return Buffer.concat(out)
}

const TEXT = 'id,name\n1,Açaí × 🌱\n'
const SIZES = [1, 2, 3, 7, 1000]

test('UTF-8 passes unchanged, without its byte order mark', async () => {
  for (const size of SIZES) {
    assert.equal((await decoded(Buffer.from(TEXT), size)).toString(), TEXT)
    assert.equal((await decoded(Buffer.from(`\ufeff${TEXT}`), size)).toString(), TEXT)
    for (const short of ['', 'a', 'ab', '\ufeff', '\n\n']) {
      assert.equal((await decoded(Buffer.from(short), size)).toString(), short.replace('\ufeff', ''))
    }
    const broken = Buffer.from('caf\xe9 \xff\xfe', 'latin1')
    assert.deepEqual(await decoded(broken, size), broken, 'the reader validates it, line by line')
  }
})

test('UTF-16 without an encoding is rejected with the encoding that its first bytes show', async () => {
  const little = Buffer.from(TEXT, 'utf16le')
  const big = Buffer.from(little).swap16()
  const mark = Buffer.from([0xff, 0xfe])
  for (const [bytes, encoding] of [
    [little, 'utf-16le'],
    [Buffer.concat([mark, little]), 'utf-16le'],
    [big, 'utf-16be'],
    [Buffer.concat([Buffer.from(mark).swap16(), big]), 'utf-16be'],
  ] as const) {
    for (const size of SIZES) {
      await assert.rejects(decoded(bytes, size), (error) => {
        assert.ok(error instanceof AppError)
        assert.deepEqual([error.code, error.message], [40002, `The text is in UTF-16. It is ${encoding}.`])
        return true
      })
      const text = (await decoded(bytes, size, encoding)).toString()
      assert.equal(text, TEXT, 'with the encoding it is decoded, without its mark')
    }
  }
})

test('gzip without Content-Encoding is rejected as such, for every encoding', async () => {
  for (const size of SIZES) {
    for (const encoding of [undefined, 'windows-1252', 'utf-16le']) {
      await assert.rejects(decoded(gzipSync(TEXT), size, encoding), {
        code: 40002,
        message:
          'The body is compressed with gzip. Send the header Content-Encoding: gzip, and compress the body only once.',
      })
    }
  }
})

test('other encodings are decoded, and bytes that are invalid in them are rejected', async () => {
  for (const size of SIZES) {
    assert.equal((await decoded(Buffer.from('\x80\xe9', 'latin1'), size, 'windows-1252')).toString(), '€é')
    assert.equal((await decoded(Buffer.from([0x89, 0xd4]), size, 'shift_jis')).toString(), '花')
    await assert.rejects(decoded(Buffer.from([0x00, 0xd8, 0x41, 0x00]), size, 'utf-16le'), { code: 40002 })
    await assert.rejects(decoded(Buffer.from([0x89]), size, 'shift_jis'), { code: 40002 })
  }
})
