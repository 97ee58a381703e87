import type { FileFormat } from '../../client/plant-store-client.ts'
import { createRowScanner } from '../../plants/import/row-scanner.ts'
import {
  type Delimiter,
  isBlankRow,
  markBytes,
  numberedHeader,
  SIGNATURE_BYTES,
  type WideEncoding,
} from '../../plants/import/table-dialect.ts'

export interface PickOptions {
  format: FileFormat
  /** Of the cells of a table. */
  delimiter: Delimiter
  /** Undefined if a byte of ASCII always means ASCII. */
  wideEncoding: WideEncoding | undefined
  /** The first row that is not blank is the header. It is picked, too. */
  hasHeader: boolean
  /** Each row gets its id as its first cell. */
  isNumbered: boolean
}

/**
 * Yields the rows of a file that begin on the wanted lines, byte for byte. `wanted` maps a line to the id of its row,
 * if it has one. Only the header row is held in memory, so rows may be of any length.
 */
export async function* pickRows(
  chunks: AsyncIterable<Buffer>,
  wanted: ReadonlyMap<number, bigint | undefined>,
  options: PickOptions,
): AsyncGenerator<Buffer, void, undefined> {
  const picker = createPicker(wanted, options)
  let isFirst = true
  for await (const units of wholeUnits(chunks)) {
    const mark = isFirst ? markBytes(units) : 0
    isFirst = false
    const picked = Buffer.concat([units.subarray(0, mark), picker.take(units.subarray(mark))])
    if (picked.length > 0) yield picked
    if (picker.isDone) return
  }
  const last = picker.end()
  if (last.length > 0) yield last
}

/** The same bytes in chunks that split no 2-byte character. The first chunk has a whole signature. */
async function* wholeUnits(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void, undefined> {
  let held: Buffer = Buffer.alloc(0)
  let bytesMin = SIGNATURE_BYTES
  for await (const chunk of chunks) {
    held = held.length === 0 ? chunk : Buffer.concat([held, chunk])
    if (held.length < bytesMin) continue
    const evenBytes = held.length - (held.length % 2)
    yield held.subarray(0, evenBytes)
    held = held.subarray(evenBytes)
    bytesMin = 2
  }
  if (held.length > 0) yield held
}

function createPicker(
  wanted: ReadonlyMap<number, bigint | undefined>,
  { format, delimiter, wideEncoding, hasHeader, isNumbered }: PickOptions,
) {
  const { unitBytes, narrow, decode, encode } = codingOf(wideEncoding)
  let lastWanted = 0
  for (const line of wanted.keys()) lastWanted = Math.max(lastWanted, line)
  /** The header row so far, until its end is found. */
  let header: Buffer[] | undefined = hasHeader ? [] : undefined
  let picked: Buffer[] = []
  let chunk: Buffer = Buffer.alloc(0)
  /** The position of the chunk in the text, in units, and how many of its bytes are scanned. */
  let chunkStart = 0
  let at = 0
  let isRowStart = true
  const scanner = createRowScanner({
    format,
    delimiter,
    onRow({ end, line }) {
      pick((end - chunkStart) * unitBytes, line, true)
    },
  })

  function pick(to: number, line: number, isEnd: boolean): void {
    const part = chunk.subarray(at, to)
    at = to
    if (header !== undefined) {
      header.push(part)
      if (isEnd) endHeader(Buffer.concat(header))
    } else if (wanted.has(line)) {
      if (isRowStart && isNumbered) picked.push(encode(`${wanted.get(line) ?? ''}${delimiter}`))
      picked.push(part)
    }
    isRowStart = isEnd
  }

  function endHeader(row: Buffer): void {
    const isBlank = isBlankRow(narrow(row), delimiter)
    header = isBlank ? [] : undefined
    if (!isBlank) picked.push(isNumbered ? encode(numberedHeader(decode(row), delimiter)) : row)
  }

  function takePicked(): Buffer {
    if (at < chunk.length) pick(chunk.length, scanner.line, false)
    chunkStart += chunk.length / unitBytes
    const all = Buffer.concat(picked)
    picked = []
    return all
  }

  return {
    take(next: Buffer): Buffer {
      chunk = next
      at = 0
      scanner.scan(narrow(chunk))
      return takePicked()
    },
    end(): Buffer {
      chunk = Buffer.alloc(0)
      at = 0
      scanner.end()
      return takePicked()
    },
    get isDone() {
      return scanner.line > lastWanted && header === undefined
    },
  }
}

/**
 * How bytes encode characters. `narrow` returns a byte per unit for the scanner: ASCII itself, and 0xff for others.
 */
function codingOf(wideEncoding: WideEncoding | undefined) {
  if (wideEncoding === undefined) {
    // Latin-1 maps each byte to a character and back. Only ASCII matters here.
    return {
      unitBytes: 1,
      narrow: (bytes: Buffer): Uint8Array => bytes,
      decode: (bytes: Buffer) => bytes.toString('latin1'),
      encode: (text: string) => Buffer.from(text, 'latin1'),
    }
  }
  const isBig = wideEncoding === 'utf-16be'
  const swapped = (bytes: Buffer) => (isBig ? Buffer.from(bytes).swap16() : bytes)
  return {
    unitBytes: 2,
    narrow(bytes: Buffer): Uint8Array {
      const high = isBig ? 0 : 1
      return Uint8Array.from({ length: bytes.length >> 1 }, (_, at) =>
        bytes[2 * at + high] === 0 ? (bytes[2 * at + 1 - high] ?? 0) : 0xff,
      )
    },
    decode: (bytes: Buffer) => swapped(bytes).toString('utf16le'),
    encode: (text: string) => swapped(Buffer.from(text, 'utf16le')),
  }
}
