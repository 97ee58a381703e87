import { type DestinationStream, type Logger, pino } from 'pino'
import pretty from 'pino-pretty'

/** The log of the service: lines of JSON where it is piped, readable where it is a terminal; on standard error. */
export function createLog(level: string, stream: { fd: number; isTTY?: boolean } = process.stderr): Logger {
  const destination: DestinationStream = stream.isTTY
    ? pretty({
        colorize: true,
        ignore: 'pid,hostname',
        translateTime: 'SYS:HH:MM:ss.l',
        destination: stream.fd,
        sync: true,
      })
    : pino.destination({ fd: stream.fd, sync: true })
  return pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, destination)
}
