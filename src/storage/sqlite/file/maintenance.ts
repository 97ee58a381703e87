import { fork } from 'node:child_process'
import { statSync } from 'node:fs'
import { extname } from 'node:path'
import { SetupError } from '../../../errors.ts'
import type { CheckProgress } from './check.ts'
import type { CopyProgress, DatabaseCopy } from './copy.ts'

/** The time that a check or a restore may take, and what it may take more for each MiB of the file. */
const TIME_MAX_MS = 120_000
const TIME_MAX_MS_PER_MIB = 2_000

/** Long work on a database file. */
export type MaintenanceJob =
  | { kind: 'copy'; from: string; to: string; isThrottled: boolean; isForeign: boolean }
  | { kind: 'check'; path: string }

/** The progress of a job, by its kind. */
export interface MaintenanceProgress {
  copy: CopyProgress
  check: CheckProgress
}

/** The result of a job, by its kind. */
export interface MaintenanceResult {
  copy: DatabaseCopy
  /** What is wrong, a line each. */
  check: string[]
}

export type MaintenanceMessage =
  | { kind: 'progress'; progress: CopyProgress | CheckProgress }
  | { kind: 'result'; result: DatabaseCopy | string[] }
  | { kind: 'failure'; message: string }

/**
 * Runs a job in its own process, which has a low priority, frees all of its memory at the end and can be killed at any
 * time. Throws a SetupError with the reason of a failure, or the reason of the signal.
 */
export async function runMaintenance<Job extends MaintenanceJob>(
  job: Job,
  {
    signal,
    onProgress,
    timeMaxMs = timeMaxMsOf(job),
  }: {
    signal: AbortSignal
    onProgress(progress: MaintenanceProgress[Job['kind']]): void
    /** The job fails if it takes longer. */
    timeMaxMs?: number | undefined
  },
): Promise<MaintenanceResult[Job['kind']]> {
  signal.throwIfAborted()
  // The extension of this module, as the built package holds .js where the sources hold .ts.
  const program = new URL(`./maintenance-process${extname(import.meta.url)}`, import.meta.url)
  const child = fork(program, [JSON.stringify(job)], {
    // SIGUSR1 would open Node's debugger to every user of the machine, even while the program is loaded.
    execArgv: ['--disable-sigusr1'],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  const stop = () => void child.kill('SIGKILL')
  let isTooLong = false
  const timer = timeMaxMs === undefined ? undefined : setTimeout(giveUp, timeMaxMs)
  function giveUp(): void {
    isTooLong = true
    stop()
  }
  signal.addEventListener('abort', stop)
  // Kills the child with this process.
  process.once('exit', stop)
  let last: MaintenanceMessage | undefined
  child.on('message', (message: MaintenanceMessage) => {
    last = message
    if (message.kind === 'progress') onProgress(message.progress as MaintenanceProgress[Job['kind']])
  })
  try {
    const ended = await new Promise<number | string>((resolve, reject) => {
      child.once('error', reject)
      child.once('close', (code, by) => resolve(code ?? by ?? 'SIGKILL'))
    })
    signal.throwIfAborted()
    if (last?.kind === 'result') return last.result as MaintenanceResult[Job['kind']]
    if (last?.kind === 'failure') throw new SetupError(last.message)
    if (isTooLong)
      throw new SetupError(`The file took longer than ${timeMaxMs} ms: it may be made to never end.`)
    throw new SetupError(`The process of the job was killed (${ended}): try again.`)
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', stop)
    process.off('exit', stop)
  }
}

/** A backup of our own database, which is throttled, may take any time. */
function timeMaxMsOf(job: MaintenanceJob): number | undefined {
  if (job.kind === 'copy' && !job.isForeign) return undefined
  const path = job.kind === 'copy' ? job.from : job.path
  const bytes = statSync(path, { throwIfNoEntry: false })?.size ?? 0
  return TIME_MAX_MS + (bytes / 2 ** 20) * TIME_MAX_MS_PER_MIB
}
