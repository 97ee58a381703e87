import { isUtf8 } from 'node:buffer'
import { AppError } from '../../errors.ts'

/** The maximum length of a line without its line ending. Longer lines are not buffered. */
export const LINE_BYTES_MAX = 64 * 1024

const LINE_FEED = 0x0a
const CARRIAGE_RETURN = 0x0d

/** Consecutive lines of a text. */
interface LineBlock {
  /** Whole lines, each with a line feed at its end. A line with a fault is empty. */
  text: string
  /** In order. */
  faults: LineFault[]
}

interface LineFault {
  /** The index of the line in the block, from 0. */
  at: number
  fault: AppError
}

/** Splits a text into lines, with memory for one line. */
export interface LineSplitter {
  /** The lines that end in a chunk of at most LINE_BYTES_MAX bytes. */
  take(chunk: Buffer): LineBlock
  /** The text after the last line feed. */
  end(): LineBlock
}

/** A splitter for UTF-8. A line that is not UTF-8 or is longer than LINE_BYTES_MAX is a fault. */
export function createLineSplitter(): LineSplitter {
  /** The beginning of an incomplete line, in chunks. */
  let begun: Buffer[] = []
  let begunBytes = 0
  let isTooLong = false

  function buffer(chunk: Buffer): void {
    begunBytes += chunk.length
    // One more byte may be a carriage return, the first half of the line ending.
    isTooLong ||= begunBytes > LINE_BYTES_MAX + 1
    if (isTooLong) begun = []
    else if (chunk.length > 0) begun.push(chunk)
  }

  /** Checks the length of the buffered line, which is now complete. */
  function checkLength(): void {
    isTooLong ||= begunBytes > LINE_BYTES_MAX && begun.at(-1)?.at(-1) !== CARRIAGE_RETURN
  }

  return {
    take(chunk) {
      const end = chunk.lastIndexOf(LINE_FEED) + 1
      if (end === 0) {
        buffer(chunk)
        return { text: '', faults: [] }
      }
      let lines = chunk.subarray(0, end)
      if (begunBytes > 0) {
        const firstEnd = lines.indexOf(LINE_FEED)
        buffer(lines.subarray(0, firstEnd))
        checkLength()
        lines = isTooLong ? lines.subarray(firstEnd) : Buffer.concat([...begun, lines.subarray(firstEnd)])
      }
      const block = blockOf(lines, isTooLong)
      begun = []
      begunBytes = 0
      isTooLong = false
      buffer(chunk.subarray(end))
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
