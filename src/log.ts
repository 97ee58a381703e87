import { type DestinationStream, type Logger, pino } from 'pino'

/** Retained while the log cannot be written, to a full disk for example: a thousand lines or more. */
const RETAINED_BYTES_MAX = 1_048_576

/** A file, by its descriptor, or a stream such as standard error. */
export type LogStream = { fd: number } | (DestinationStream & { fd?: number; isTTY?: boolean })

/**
 * The log of the service: JSON lines, or readable ones on a terminal. A log that cannot be written does not throw: its
 * lines are retained and written later.
 */
export async function createLog(level: string, stream: LogStream): Promise<Logger> {
  const options = { level, base: null, timestamp: pino.stdTimeFunctions.isoTime }
  if ('write' in stream && stream.isTTY) {
    // Loaded for a terminal only, which a service seldom has.
    const { readableLine } = await import('./readable-log.ts')
    return pino(options, { write: (line) => stream.write(readableLine(line)) })
  }
  const { fd } = stream
  if (fd === undefined) return pino(options, stream as DestinationStream)
  // Each line is longer than the minimum of a write, which is not 0 only so that it can be flushed.
  const destination = pino.destination({
    fd,
    sync: true,
    minLength: 1,
    maxLength: RETAINED_BYTES_MAX,
  })
  const log = pino(options, destination)
  let lostLines = 0
  destination.on('error', () => undefined)
  destination.on('drop', () => {
    lostLines++
    // Dropping a line does not retry the retained ones.
    destination.flush()
  })
  destination.on('drain', () => {
    if (lostLines === 0) return
    const lost = lostLines
    lostLines = 0
    log.warn({ lostLines: lost }, 'lines of the log are lost: it could not be written')
  })
  return log
}
