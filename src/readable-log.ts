import { printable } from './printable.ts'

const LEVEL_NAMES: Readonly<Record<number, string>> = {
  10: 'TRACE',
  20: 'DEBUG',
  30: 'INFO',
  40: 'WARN',
  50: 'ERROR',
  60: 'FATAL',
}

/** Local time, to the millisecond: 14:03:59.120. */
const CLOCK = new Intl.DateTimeFormat('sv', {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  fractionalSecondDigits: 3,
})

interface LogLine extends Record<string, unknown> {
  time: string
  level: number
  msg?: string
  err?: { stack?: string }
}

/** A JSON line of the log for a person at a terminal: local time, level, message and members, then an error's stack. */
export function readableLine(json: string): string {
  const { time, level, msg = '', err, ...members } = JSON.parse(json) as LogLine
  const stack = err?.stack?.split('\n').map((line) => `    ${printable(line)}\n`) ?? []
  const words = [
    CLOCK.format(new Date(time)).replace(',', '.'),
    LEVEL_NAMES[level] ?? level,
    printable(msg),
    ...Object.entries(members).map(([name, value]) => `${name}=${printable(JSON.stringify(value))}`),
  ]
  return `${words.join(' ')}\n${stack.join('')}`
}
