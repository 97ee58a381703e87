import { StringDecoder } from 'node:string_decoder'
import type { FileFormat } from '../../client/plant-store-client.ts'

export interface PickOptions {
  format: FileFormat
  /** Two bytes a character, in this order; undefined where the bytes of ASCII mean the same. */
  wideEncoding: 'utf-16le' | 'utf-16be' | undefined
  /** The first row that is not blank names the columns: it is wanted, too. */
  hasHeader: boolean
  /** Each row gets its id as a cell of its own before the others. */
  isNumbered: boolean
}

const BYTE_ORDER_MARKS = ['\ufeff', '\u00ef\u00bb\u00bf']

/**
 * The rows of a file that begin on these lines, byte for byte as they stand in it. Lines and rows are counted as
 * the service counts them: NDJSON has a row on each, that ends with LF; CSV ends lines with LF, CRLF or CR, and a
 * row goes on over line endings within quotation marks. `wanted` gives the id of each row, where it has one.
 * No row is held in memory, so they may be of any length.
 */
export async function* pickRows(
  pieces: AsyncIterable<Buffer>,
  wanted: ReadonlyMap<number, bigint | undefined>,
  options: PickOptions,
): AsyncGenerator<Buffer, void, undefined> {
  const { decode, encode } = createCoding(options.wideEncoding)
  let lastWanted = 0
  for (const line of wanted.keys()) lastWanted = Math.max(lastWanted, line)
  let picked = ''
  let header: string | undefined = options.hasHeader ? '' : undefined
  const splitter = createRowSplitter(options.format, (piece, line, isStart, isEnd) => {
    if (header !== undefined) {
      header += piece
      if (!isEnd) return
      const isBlank = header.trim() === ''
      if (!isBlank) picked += options.isNumbered ? `id,${withoutId(header)}` : header
      header = isBlank ? '' : undefined
    } else if (wanted.has(line)) {
      if (isStart && options.isNumbered) picked += `${wanted.get(line) ?? ''},`
      picked += piece
    }
  })
  let isFirst = true
  for await (const piece of pieces) {
    let text = decode(piece)
    if (isFirst && text !== '') {
      const mark = BYTE_ORDER_MARKS.find((one) => text.startsWith(one)) ?? ''
      picked = mark
      text = text.slice(mark.length)
      isFirst = false
    }
    splitter.take(text)
    if (picked !== '') yield encode(picked)
    picked = ''
    if (splitter.line > lastWanted && header === undefined) return
  }
  splitter.end()
  if (picked !== '') yield encode(picked)
}

/** Renames what would be a second column id, so that it is ignored as before. */
function withoutId(header: string): string {
  return header.replace(/(^|,)([ \t]*"?[ \t]*)id(?=[ \t]*"?[ \t]*(?:,|[\r\n]|$))/gi, '$1$2former_id')
}

/**
 * Calls `onPiece` with all of the text, no piece of it over the end of a row: the line on which the row
 * begins, and whether the piece is its start and its end.
 */
function createRowSplitter(
  format: FileFormat,
  onPiece: (piece: string, line: number, isStart: boolean, isEnd: boolean) => void,
) {
  const isCsv = format === 'csv'
  let line = 1
  let rowLine = 1
  let isRowStart = true
  let isCellStart = true
  let isQuoted = false
  /** The last character, where what it means hangs on the next one. */
  let held = ''

  function give(piece: string, isEnd: boolean): void {
    if (piece !== '' || isEnd) onPiece(piece, rowLine, isRowStart, isEnd)
    isRowStart = isEnd
    if (isEnd) rowLine = line
  }

  function take(piece: string, isLast: boolean): void {
    const text = held + piece
    held = ''
    let from = 0
    for (let at = 0; at < text.length; at++) {
      const character = text[at]
      if (
        isCsv &&
        (character === '\r' || (character === '"' && isQuoted)) &&
        at + 1 === text.length &&
        !isLast
      ) {
        held = character
        break
      }
      if (character === '\n' || (isCsv && character === '\r')) {
        if (character === '\r' && text[at + 1] === '\n') at++
        line++
        if (isQuoted) continue
        isCellStart = true
        give(text.slice(from, at + 1), true)
        from = at + 1
      } else if (isCsv && character === '"') {
        if (isQuoted && text[at + 1] === '"') at++
        else if (isQuoted) isQuoted = false
        else if (isCellStart) isQuoted = true
        isCellStart = false
      } else {
        isCellStart = character === ',' && !isQuoted
      }
    }
    give(text.slice(from, text.length - held.length), isLast)
  }

  return {
    take: (piece: string) => take(piece, false),
    end: () => take('', true),
    get line() {
      return rowLine
    },
  }
}

/**
 * Bytes as characters that stand for them, and back, with nothing lost: the characters that matter here are the same in
 * every encoding of one byte for ASCII.
 */
function createCoding(wideEncoding: PickOptions['wideEncoding']) {
  if (wideEncoding === undefined) {
    return {
      decode: (piece: Buffer) => piece.toString('latin1'),
      encode: (text: string) => Buffer.from(text, 'latin1'),
    }
  }
  const isBig = wideEncoding === 'utf-16be'
  const decoder = new StringDecoder('utf16le')
  let odd: Buffer = Buffer.alloc(0)
  return {
    decode(piece: Buffer) {
      const all = Buffer.concat([odd, piece])
      const even = all.subarray(0, all.length & ~1)
      odd = all.subarray(even.length)
      return decoder.write(isBig ? even.swap16() : even)
    },
    encode(text: string) {
      const bytes = Buffer.from(text, 'utf16le')
      return isBig ? bytes.swap16() : bytes
    },
  }
}
