import { fork } from 'node:child_process'
import { extname } from 'node:path'
import { SetupError } from '../../../errors.ts'
import type { CheckProgress } from './check.ts'
import type { CopyProgress, StoreCopy } from './copy.ts'

/** Long work on the file of a store. */
export type MaintenanceJob =
  | { kind: 'copy'; from: string; to: string; isThrottled: boolean }
  | { kind: 'check'; path: string }

/** What a job tells, by its kind. */
export interface JobProgress {
  copy: CopyProgress
  check: CheckProgress
}

/** What comes of a job, by its kind. */
export interface JobResult {
  copy: StoreCopy
  /** What is wrong. */
  check: string[]
}

export type JobMessage =
  | { kind: 'progress'; progress: CopyProgress | CheckProgress }
  | { kind: 'result'; result: StoreCopy | string[] }
  | { kind: 'failure'; message: string }

/**
 * Does a job in a process of its own: it has a low priority, holds up no thread of this one, leaves no memory
 * behind, and can be ended whatever it does. Throws a SetupError that says what stood in its way, or the reason of
 * the signal.
 */
export async function runMaintenance<Job extends MaintenanceJob>(
  job: Job,
  { signal, onProgress }: { signal: AbortSignal; onProgress(progress: JobProgress[Job['kind']]): void },
): Promise<JobResult[Job['kind']]> {
  signal.throwIfAborted()
  // The extension of this module, as the built package holds .js where the sources hold .ts.
  const program = new URL(`./maintenance-process${extname(import.meta.url)}`, import.meta.url)
  const child = fork(program, [JSON.stringify(job)], {
    execArgv: [],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  const stop = () => void child.kill('SIGKILL')
  signal.addEventListener('abort', stop)
  // A process that ends takes it along.
  process.once('exit', stop)
  let last: JobMessage | undefined
  child.on('message', (message: JobMessage) => {
    last = message
    if (message.kind === 'progress') onProgress(message.progress as JobProgress[Job['kind']])
  })
  try {
    const ended = await new Promise<number | string>((resolve, reject) => {
      child.once('error', reject)
      child.once('close', (code, by) => resolve(code ?? by ?? 'SIGKILL'))
    })
    signal.throwIfAborted()
    if (last?.kind === 'result') return last.result as JobResult[Job['kind']]
    if (last?.kind === 'failure') throw new SetupError(last.message)
    throw new SetupError(`The process that did the work was ended from outside (${ended}): try again.`)
  } finally {
    signal.removeEventListener('abort', stop)
    process.off('exit', stop)
  }
}
