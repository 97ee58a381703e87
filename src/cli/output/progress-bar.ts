import stringWidth from 'string-width'

/** How far something is. */
export interface Progress {
  /** What is done, in the unit of `total`. */
  done: number
  /** Absent where nobody knows how much there is. */
  total?: number | undefined
  /** Absent where it is not rows that are worked on. */
  rows?: number
  errors?: number | undefined
}

export interface ProgressBar {
  /** Cheap: it is drawn some times a second only. */
  update(progress: Progress): void
  /** Takes the bar away. */
  end(): void
}

const BAR_WIDTH_MAX = 30
/** A shorter one tells nothing. */
const BAR_WIDTH_MIN = 8
const DRAWS_A_SECOND = 10
/** Some terminals do not say how wide they are. */
const COLUMNS_UNKNOWN = 80
const STANDSTILL_MS = 2_000
const GAP = '  '

/**
 * A bar on standard error that is drawn over itself; nothing where that is no terminal. `doing` is the word
 * before it, `writeDone` says what is done.
 */
export async function createProgressBar(
  doing: string,
  writeDone: (progress: Progress) => string,
): Promise<ProgressBar> {
  const stream = process.stderr
  if (!stream.isTTY) return { update: () => undefined, end: () => undefined }
  const { SingleBar } = (await import('cli-progress')).default
  const startMs = performance.now()
  let progress: Progress = { done: 0 }
  let rowsMs = startMs
  const bar = new SingleBar({
    stream,
    fps: DRAWS_A_SECOND,
    clearOnComplete: true,
    hideCursor: true,
    // Redrawn by time, so that what stands still is seen to stand still.
    forceRedraw: true,
    format() {
      const nowMs = performance.now()
      // Rows are told of some times a second: until then the rate is that of the last ones.
      const untilMs = nowMs - rowsMs < STANDSTILL_MS ? rowsMs : nowMs
      return progressLine(doing, progress, {
        done: writeDone(progress),
        elapsedMs: nowMs - startMs,
        rowsPerSecond: untilMs > startMs ? ((progress.rows ?? 0) / (untilMs - startMs)) * 1000 : 0,
        width: stream.columns || COLUMNS_UNKNOWN,
      })
    },
  })
  const stop = () => bar.stop()
  // However the process ends, the cursor comes back.
  process.once('exit', stop)
  bar.start(1, 0)
  return {
    update(next) {
      if (next.rows !== progress.rows) rowsMs = performance.now()
      progress = next
    },
    end() {
      process.off('exit', stop)
      stop()
    },
  }
}

/** `createProgressBar` for a store that is copied, and whose copy is examined then. */
export async function createCopyBar(doing: string) {
  let isCopying = true
  const bar = await createProgressBar(doing, ({ done, total = 0 }) =>
    isCopying ? `${byteSize(done)} of ${byteSize(total)}` : 'examining it',
  )
  return {
    onProgress(progress: Progress & { doing: 'copying' | 'verifying' }) {
      isCopying = progress.doing === 'copying'
      bar.update(progress)
    },
    end: bar.end,
  }
}

interface Circumstances {
  /** What is done, as it is shown. */
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
  { done: doneText, elapsedMs, rowsPerSecond, width }: Circumstances,
): string {
  const share = total ? Math.min(1, done / total) : undefined
  const parts = [doneText]
  if (rows !== undefined) parts.push(`${wholeNumber(rowsPerSecond)} rows/s`)
  if (errors !== undefined) parts.push(`${wholeNumber(errors)} ${errors === 1 ? 'error' : 'errors'}`)
  if (share) parts.push(`${clock((elapsedMs / share) * (1 - share))} left`)
  if (share !== undefined) parts.unshift(`${Math.floor(share * 100)} %`)
  const text = parts.join(GAP)
  const room = width - stringWidth([doing, '[]', text].join(GAP)) - 1
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

/** `12.3 MB`, in powers of 1000 as disks are sold and files are listed. */
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
