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
import { checkDatabaseFile } from './check.ts'
import { copyDatabase } from './copy.ts'
import type { MaintenanceJob, MaintenanceMessage } from './maintenance.ts'
import { removePartialFile } from './partial-file.ts'

// The process that runs a maintenance job on a database file; `maintenance.ts` starts it.

const job = JSON.parse(process.argv[2] ?? '') as MaintenanceJob

/** Fulfils when the message has been sent: the last one must not be lost when the process exits. */
function send(message: MaintenanceMessage): Promise<void> {
  return new Promise((resolve) => {
    // An error means that the parent is gone, which `disconnect` handles.
    process.send?.(message, undefined, undefined, () => resolve())
  })
}

async function run(): Promise<MaintenanceMessage> {
  const onProgress = (progress: Extract<MaintenanceMessage, { kind: 'progress' }>['progress']) =>
    void send({ kind: 'progress', progress })
  try {
    const result =
      job.kind === 'copy'
        ? await copyDatabase({ ...job, onProgress })
        : checkDatabaseFile(job.path, onProgress)
    return { kind: 'result', result }
  } catch (error) {
    return { kind: 'failure', message: error instanceof SetupError ? error.message : failureOf(error) }
  }
}

function failureOf(error: unknown): string {
  const path = job.kind === 'copy' ? job.from : job.path
  const code = resultCodeOf(error)
  if (code === SQLITE_NOTADB) {
    return `${path} is not a Plant Store: it is not a database, or its first page is damaged.`
  }
  if (code === SQLITE_CORRUPT) {
    return `${path} is damaged or incomplete: use another backup ("plantstore restore --help").`
  }
  if (isDiskFull(error) && job.kind === 'copy')
    return `There is no space for the copy of ${path}: the disk is full.`
  if (code === SQLITE_CANTOPEN || code === SQLITE_READONLY)
    return `${path} cannot be read: ${whyNotOpened(path)}.`
  return `The work on ${path} failed: ${fileReason(error)}.`
}

/** SQLite itself does not report the reason. */
function whyNotOpened(path: string): string {
  try {
    accessSync(path, constants.R_OK)
    return `SQLite needs to write to its folder. Run this as the user of the service; on a read-only file system, copy the file elsewhere first`
  } catch (error) {
    return fileReason(error)
  }
}

// Ctrl-C at a terminal reaches this process, too; the parent decides. SIGUSR1 is ignored as in the parent.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGUSR1']) process.on(signal, () => undefined)
// Without the parent, nothing would give the copy its name.
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
