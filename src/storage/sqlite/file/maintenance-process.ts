import { accessSync, constants } from 'node:fs'
import { constants as osConstants, setPriority } from 'node:os'
import { SetupError } from '../../../errors.ts'
import {
  fileReason,
  isDiskFull,
  resultCodeOf,
  SQLITE_CANTOPEN,
  SQLITE_CORRUPT,
  SQLITE_NOTADB,
  SQLITE_READONLY,
} from '../connection/failure.ts'
import { checkStore } from './check.ts'
import { copyStore } from './copy.ts'
import type { JobMessage, MaintenanceJob } from './maintenance.ts'
import { removePartialFile } from './partial-file.ts'

// The process that does a job on the file of a store; `store-job.ts` starts it.

const job = JSON.parse(process.argv[2] ?? '') as MaintenanceJob

/** Fulfils when the message is on its way: what is sent last must not be lost by the end of the process. */
function send(message: JobMessage): Promise<void> {
  return new Promise((resolve) => {
    // Where nobody listens any more, the end of the connection is told elsewhere.
    process.send?.(message, undefined, undefined, () => resolve())
  })
}

async function run(): Promise<JobMessage> {
  const onProgress = (progress: Extract<JobMessage, { kind: 'progress' }>['progress']) =>
    void send({ kind: 'progress', progress })
  try {
    const result =
      job.kind === 'copy' ? await copyStore({ ...job, onProgress }) : checkStore(job.path, onProgress)
    return { kind: 'result', result }
  } catch (error) {
    return { kind: 'failure', message: error instanceof SetupError ? error.message : failureOf(error) }
  }
}

function failureOf(error: unknown): string {
  const path = job.kind === 'copy' ? job.from : job.path
  const code = resultCodeOf(error)
  if (code === SQLITE_NOTADB) {
    return `${path} is not a Plant Store: it is no database, or its first page is damaged.`
  }
  if (code === SQLITE_CORRUPT) {
    return `${path} is damaged, or not whole: take another backup ("plantstore restore --help").`
  }
  if (isDiskFull(error) && job.kind === 'copy')
    return `There is no room for the copy of ${path}: the disk is full.`
  if (code === SQLITE_CANTOPEN || code === SQLITE_READONLY)
    return `${path} cannot be read: ${whyNotOpened(path)}.`
  return `The work on ${path} failed: ${fileReason(error)}.`
}

/** SQLite itself does not say. */
function whyNotOpened(path: string): string {
  try {
    accessSync(path, constants.R_OK)
    return `SQLite writes to the folder of a store, and may not. Run this as the user of the service; where the file system is read-only, copy the file elsewhere first`
  } catch (error) {
    return fileReason(error)
  }
}

// Ctrl-C at a terminal reaches this process as well; whoever started it decides.
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => undefined)
// Whoever started it is gone: nobody would give the copy its name.
const abandon = () => {
  if (job.kind === 'copy') removePartialFile(job.to)
  process.exit(1)
}
process.once('disconnect', abandon)
if (!process.connected) abandon()
if (job.kind === 'check' || job.isThrottled) setPriority(osConstants.priority.PRIORITY_LOW)
await send(await run())
process.off('disconnect', abandon)
process.disconnect?.()
