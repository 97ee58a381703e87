import { isUtf8 } from 'node:buffer'
import { AppError } from '../../errors.ts'

/** A plant that anybody typed is far shorter; what is longer, without its line ending, is not kept in memory. */
export const LINE_BYTES_MAX = 64 * 1024

const LINE_FEED = 0x0a
const CARRIAGE_RETURN = 0x0d

/** Some lines of a text, one after the other. */
export interface LineBlock {
  /** Whole lines, a line feed at the end of each. One that is at fault is left empty. */
  text: string
  /** In the order of their lines. */
  faults: LineFault[]
}

export interface LineFault {
  /** Its place in the block, from 0. */
  at: number
  fault: AppError
}

/** Takes a text apart into lines, with memory for one of them. */
export interface LineSplitter {
  /** The lines that a piece of at most LINE_BYTES_MAX bytes brings to an end. */
  take(piece: Buffer): LineBlock
  /** What is behind the last line feed. */
  end(): LineBlock
}

/** A splitter for UTF-8. A line that is not, or that is longer than LINE_BYTES_MAX, is a fault of its own. */
export function createLineSplitter(): LineSplitter {
  /** The beginning of a line, in pieces. */
  let begun: Buffer[] = []
  let begunBytes = 0
  let isTooLong = false

  function begin(piece: Buffer): void {
    begunBytes += piece.length
    // One more may be a carriage return, the first half of the line ending.
    isTooLong ||= begunBytes > LINE_BYTES_MAX + 1
    if (isTooLong) begun = []
    else if (piece.length > 0) begun.push(piece)
  }

  /** Judges the line that was begun, when all of it is there. */
  function finish(): void {
    isTooLong ||= begunBytes > LINE_BYTES_MAX && begun.at(-1)?.at(-1) !== CARRIAGE_RETURN
  }

  return {
    take(piece) {
      const end = piece.lastIndexOf(LINE_FEED) + 1
      if (end === 0) {
        begin(piece)
        return { text: '', faults: [] }
      }
      let lines = piece.subarray(0, end)
      if (begunBytes > 0) {
        const firstEnd = lines.indexOf(LINE_FEED)
        begin(lines.subarray(0, firstEnd))
        finish()
        lines = isTooLong ? lines.subarray(firstEnd) : Buffer.concat([...begun, lines.subarray(firstEnd)])
      }
      const block = blockOf(lines, isTooLong)
      begun = []
      begunBytes = 0
      isTooLong = false
      begin(piece.subarray(end))
      return block
    },
    end() {
      return begunBytes === 0 ? { text: '', faults: [] } : this.take(Buffer.of(LINE_FEED))
    },
  }
}

function blockOf(lines: Buffer, firstIsTooLong: boolean): LineBlock {
  const faults: LineFault[] = []
  if (firstIsTooLong) {
    faults.push({ at: 0, fault: new AppError(41301, `The line is longer than ${LINE_BYTES_MAX} bytes.`) })
  }
  if (isUtf8(lines)) return { text: lines.toString('utf8'), faults }
  let text = ''
  let at = 0
  for (let start = 0; start < lines.length; at++) {
    const end = lines.indexOf(LINE_FEED, start) + 1
    const line = lines.subarray(start, end)
    if (isUtf8(line)) {
      text += line.toString('utf8')
    } else {
      text += '\n'
      faults.push({
        at,
        fault: new AppError(40002, 'The line is not valid UTF-8.', {
          details: { fields: [{ name: '', rule: 'utf-8' }] },
        }),
      })
    }
    start = end
  }
  return { text, faults }
}
