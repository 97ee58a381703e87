import { closeSync, fdatasyncSync, openSync } from 'node:fs'
import { backup, DatabaseSync } from 'node:sqlite'
import { SetupError } from '../../../errors.ts'
import { openReader } from '../connection/open-connection.ts'
import { checkIsStore } from '../connection/schema.ts'

/** Pages of 4 KiB that are copied at once: a few milliseconds. */
const STEP_PAGES = 256
/**
 * Steps after which the copy is brought to the disk. Left to the end, all of it would be written at once, and the
 * commits of a service on the same disk would wait for it.
 */
const SYNC_STEPS = 4
/** A step that took longer waited for something else; so long a pause is enough. */
const PAUSE_MAX_MS = 250

export interface StoreCopy {
  plants: number
  bytes: number
}

/** How far a copy is: in bytes while it is copied, and without while what was written is examined. */
export interface CopyProgress {
  doing: 'copying' | 'verifying'
  done: number
  total: number
}

export interface CopyOptions {
  from: string
  /** An empty file. */
  to: string
  /** Rest as long as was worked, so that a service beside it goes on. */
  isThrottled: boolean
  onProgress(progress: CopyProgress): void
}

/**
 * Copies a store, which may be written to meanwhile, as it was at one moment, into one file without a log beside
 * it, on disk and examined. Throws a SetupError when `from` is no store, or damaged.
 */
export async function copyStore(options: CopyOptions): Promise<StoreCopy> {
  const { from, to, onProgress } = options
  const source = openReader(from)
  let plants: number
  let bytes: number
  try {
    // The copy begins anew with every write of another process, unless its connection holds a snapshot.
    source.exec('BEGIN')
    checkIsStore(source, from)
    plants = countPlants(source)
    const { page_size: pageBytes } = source.prepare('PRAGMA page_size').get() as { page_size: number }
    bytes = (await copyPages(source, options, pageBytes)) * pageBytes
  } finally {
    source.close()
  }
  onProgress({ doing: 'verifying', done: bytes, total: bytes })
  verifyCopy(to, from, plants)
  return { plants, bytes }
}

async function copyPages(
  source: DatabaseSync,
  { to, isThrottled, onProgress }: CopyOptions,
  pageBytes: number,
): Promise<number> {
  const file = openSync(to, 'r+')
  const sleeper = new Int32Array(new SharedArrayBuffer(4))
  let steps = 0
  let stepStartMs = performance.now()
  try {
    return await backup(source, to, {
      rate: STEP_PAGES,
      progress({ totalPages, remainingPages }) {
        onProgress({
          doing: 'copying',
          done: (totalPages - remainingPages) * pageBytes,
          total: totalPages * pageBytes,
        })
        if (!isThrottled) return
        if (++steps % SYNC_STEPS === 0) fdatasyncSync(file)
        Atomics.wait(sleeper, 0, 0, Math.min(performance.now() - stepStartMs, PAUSE_MAX_MS))
        stepStartMs = performance.now()
      },
    })
  } finally {
    closeSync(file)
  }
}

function verifyCopy(path: string, from: string, plants: number): void {
  const database = new DatabaseSync(path)
  try {
    // The pages say that there is a log beside them. A copy is one file.
    database.exec('PRAGMA journal_mode = DELETE')
    const finding = database.prepare('PRAGMA quick_check(1)').get()?.quick_check
    if (finding !== 'ok') {
      throw new SetupError(
        `${from} is damaged, and so would be its copy: ${String(finding).replaceAll('\n', ' ')}`,
      )
    }
    const copied = countPlants(database)
    if (copied !== plants) {
      throw new SetupError(`The copy has ${copied} plants where ${from} had ${plants}: try again.`)
    }
  } finally {
    database.close()
  }
}

function countPlants(database: DatabaseSync): number {
  return Number(database.prepare('SELECT count(*) AS count FROM plants').get()?.count)
}
