import { type DestinationStream, type Logger, pino } from 'pino'

/** What is kept of a log that cannot be written, its disk being full, say, until it can: a thousand lines or more. */
const KEPT_BYTES_MAX = 1_048_576

/**
 * The log of the service: lines of JSON where it is piped, readable where it is a terminal; on standard
 * error. One that cannot be written throws at nobody: the service goes on, and what is kept is written later.
 */
export async function createLog(
  level: string,
  stream: { fd: number; isTTY?: boolean } = process.stderr,
): Promise<Logger> {
  const options = { level, base: null, timestamp: pino.stdTimeFunctions.isoTime }
  if (stream.isTTY) return pino(options, await readableDestination(stream.fd))
  // Each line is longer than the least that is written at once, which is not 0 only so that it can be flushed.
  const destination = pino.destination({ fd: stream.fd, sync: true, minLength: 1, maxLength: KEPT_BYTES_MAX })
  const log = pino(options, destination)
  let lostLines = 0
  destination.on('error', () => undefined)
  destination.on('drop', () => {
    lostLines++
    // A line that is dropped is no try to write those that are kept.
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

async function readableDestination(fd: number): Promise<DestinationStream> {
  // Loaded where a person is watching only: a service starts faster without.
  const { default: pretty } = await import('pino-pretty')
  return pretty({
    colorize: true,
    ignore: 'pid,hostname',
    translateTime: 'SYS:HH:MM:ss.l',
    destination: fd,
    sync: true,
  })
}
