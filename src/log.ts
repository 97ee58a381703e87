import { type DestinationStream, type Logger, pino } from 'pino'

/**
 * The log of the service: lines of JSON where it is piped, readable where it is a terminal; on standard
 * error.
 */
export async function createLog(
  level: string,
  stream: { fd: number; isTTY?: boolean } = process.stderr,
): Promise<Logger> {
  const destination = stream.isTTY
    ? await readableDestination(stream.fd)
    : pino.destination({ fd: stream.fd, sync: true })
  return pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, destination)
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
