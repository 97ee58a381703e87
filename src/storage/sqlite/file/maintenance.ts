import { fork } from 'node:child_process'
import { extname } from 'node:path'
import { SetupError } from '../../../errors.ts'
import type { CheckProgress } from './check.ts'
import type { CopyProgress, DatabaseCopy } from './copy.ts'

/** Long work on a database file. */
export type MaintenanceJob =
  | { kind: 'copy'; from: string; to: string; isThrottled: boolean }
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
  }: { signal: AbortSignal; onProgress(progress: MaintenanceProgress[Job['kind']]): void },
): Promise<MaintenanceResult[Job['kind']]> {
  signal.throwIfAborted()
  // The extension of this module, as the built package holds .js where the sources hold .ts.
  const program = new URL(`./maintenance-process${extname(import.meta.url)}`, import.meta.url)
  const child = fork(program, [JSON.stringify(job)], {
    execArgv: [],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  const stop = () => void child.kill('SIGKILL')
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
    throw new SetupError(`The process of the job was killed (${ended}): try again.`)
  } finally {
    signal.removeEventListener('abort', stop)
    process.off('exit', stop)
  }
}
