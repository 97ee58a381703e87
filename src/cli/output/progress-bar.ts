import type { OutputStream } from '../command-context.ts'

/** The progress of some work. */
export interface Progress {
  /** In the unit of `total`. */
  done: number
  /** Absent if unknown. */
  total?: number | undefined
  /** Absent if the work is not on rows. */
  rows?: number
  errors?: number | undefined
}

export interface ProgressBar {
  /** Cheap: the bar is drawn only a few times a second. */
  update(progress: Progress): void
  /** Erases the bar. */
  end(): void
}

const BAR_WIDTH_MAX = 30
/** A shorter bar shows nothing. */
const BAR_WIDTH_MIN = 8
const DRAW_INTERVAL_MS = 100
/** For terminals that do not report their width. */
const COLUMNS_UNKNOWN = 80
const STANDSTILL_MS = 2_000
const GAP = '  '
/** Moves to the first column, and erases the line to its end (ECMA-48: CHA, EL). */
const LINE_START = '\u001b[1G'
const ERASE_TO_END = '\u001b[0K'

/**
 * A bar on `stream` that redraws itself; nothing if that is not a terminal. `doing` is the word before it.
 * `formatDone` formats the finished part.
 */
export function createProgressBar(
  stream: OutputStream,
  doing: string,
  formatDone: (progress: Progress) => string,
): ProgressBar {
  if (!stream.isTTY) return { update: () => undefined, end: () => undefined }
  const startMs = performance.now()
  let progress: Progress = { done: 0 }
  let rowsMs = startMs
  const draw = () => {
    const nowMs = performance.now()
    // The service reports rows a few times a second. Between two reports the last rate is shown.
    const untilMs = nowMs - rowsMs < STANDSTILL_MS ? rowsMs : nowMs
    const line = progressLine(doing, progress, {
      done: formatDone(progress),
      elapsedMs: nowMs - startMs,
      rowsPerSecond: untilMs > startMs ? ((progress.rows ?? 0) / (untilMs - startMs)) * 1000 : 0,
      width: stream.columns || COLUMNS_UNKNOWN,
    })
    stream.write(`${LINE_START}${line}${ERASE_TO_END}`)
  }
  draw()
  // Drawn by time, not by progress, to show a standstill.
  let timer: NodeJS.Timeout | undefined = setInterval(draw, DRAW_INTERVAL_MS)
  return {
    update(next) {
      if (next.rows !== progress.rows) rowsMs = performance.now()
      progress = next
    },
    end() {
      if (timer === undefined) return
      clearInterval(timer)
      timer = undefined
      stream.write(`${LINE_START}${ERASE_TO_END}`)
    },
  }
}

/** `createProgressBar` for a copy of a store and its verification. */
export function createCopyBar(stream: OutputStream, doing: string) {
  let isCopying = true
  const bar = createProgressBar(stream, doing, ({ done, total = 0 }) =>
    isCopying ? `${byteSize(done)} of ${byteSize(total)}` : 'verifying',
  )
  return {
    onProgress(progress: Progress & { doing: 'copying' | 'verifying' }) {
      isCopying = progress.doing === 'copying'
      bar.update(progress)
    },
    end: bar.end,
  }
}

interface Measurements {
  /** The finished part, formatted. */
  done: string
  elapsedMs: number
  rowsPerSecond: number
  /** The columns of the terminal. */
  width: number
}

/** `importing  [=====-----]  50 %  1.2 MB of 2.4 MB  40,000 rows/s  0 errors  0:12 left`, as far as it fits. */
export function progressLine(
  doing: string,
  { done, total, rows, errors }: Progress,
  { done: doneText, elapsedMs, rowsPerSecond, width }: Measurements,
): string {
  const share = total ? Math.min(1, done / total) : undefined
  const parts = [doneText]
  if (rows !== undefined) parts.push(`${wholeNumber(rowsPerSecond)} rows/s`)
  if (errors !== undefined) parts.push(`${wholeNumber(errors)} ${errors === 1 ? 'error' : 'errors'}`)
  if (share) parts.push(`${clock((elapsedMs / share) * (1 - share))} left`)
  if (share !== undefined) parts.unshift(`${Math.floor(share * 100)} %`)
  const text = parts.join(GAP)
  const room = width - [doing, '[]', text].join(GAP).length - 1
  if (share === undefined || room < BAR_WIDTH_MIN) return [doing, text].join(GAP).slice(0, width - 1)
  const barWidth = Math.min(BAR_WIDTH_MAX, room)
  const filled = Math.round(share * barWidth)
  return [doing, `[${'='.repeat(filled)}${'-'.repeat(barWidth - filled)}]`, text].join(GAP)
}

/** `1,234,567` */
export function wholeNumber(value: number): string {
  return Math.round(value).toLocaleString('en')
}

/** `1 plant`, `1,234 plants` */
export function plantCount(count: number): string {
  return `${wholeNumber(count)} ${count === 1 ? 'plant' : 'plants'}`
}

/** `12.3 MB`, in powers of 1000. */
export function byteSize(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB']
  let size = bytes
  let unit = 0
  while (size >= 999.5 && unit < units.length - 1) {
    size /= 1000
    unit++
  }
  return `${unit === 0 || size >= 100 ? Math.round(size) : size.toFixed(1)} ${units[unit]}`
}

/** `1:02:03`, `2:03` */
function clock(timeMs: number): string {
  const whole = Math.ceil(timeMs / 1000)
  const parts = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60]
  if (parts[0] === 0) parts.shift()
  return parts.map((part, at) => (at === 0 ? String(part) : String(part).padStart(2, '0'))).join(':')
}
