import { constants, setPriority } from 'node:os'
import { SetupError } from '../../errors.ts'
import { checkStore } from './check-store.ts'
import { copyStore } from './copy-store.ts'
import { removePartialFile } from './partial-file.ts'
import { fileReason, resultCodeOf } from './sqlite-connection.ts'
import type { JobMessage, StoreJob } from './store-job.ts'

// The process that does a job on the file of a store; `store-job.ts` starts it.

/** Result code of SQLite (sqlite.org/rescode.html). */
const SQLITE_NOTADB = 26

const job = JSON.parse(process.argv[2] ?? '') as StoreJob

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
  if (resultCodeOf(error) === SQLITE_NOTADB) {
    return `${path} is not a Plant Store: it is no database, or its first page is damaged.`
  }
  return `The work on ${path} failed: ${fileReason(error)}.`
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
if (job.kind === 'check' || job.isThrottled) setPriority(constants.priority.PRIORITY_LOW)
await send(await run())
process.off('disconnect', abandon)
process.disconnect?.()
