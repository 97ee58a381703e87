import { closeSync, fdatasyncSync, openSync } from 'node:fs'
import { backup, DatabaseSync } from 'node:sqlite'
import { SetupError } from '../../../errors.ts'
import { openForeign } from '../connection/open-connection.ts'
import { checkIsPlantStore, findSchemaDifferences } from '../connection/schema.ts'

/** Pages of 4 KiB that are copied at once: a few milliseconds. */
const STEP_PAGES = 256
/**
 * Steps after which the copy is synced. One sync at the end would write everything at once, and the commits of a
 * service on the same disk would wait for it.
 */
const SYNC_STEPS = 4
/** The longest pause: a step that took longer was waiting for something else. */
const PAUSE_MAX_MS = 250

export interface DatabaseCopy {
  plants: number
  bytes: number
}

/** The progress of a copy, in bytes. It stays at the total while the copy is verified. */
export interface CopyProgress {
  doing: 'copying' | 'verifying'
  done: number
  total: number
}

export interface CopyOptions {
  from: string
  /** An empty file. */
  to: string
  /** Whether to pause after each step for as long as it took, so that a service beside it stays responsive. */
  isThrottled: boolean
  /** Whether `from` may be of unknown origin: a schema that is not ours is then rejected. */
  isForeign: boolean
  onProgress(progress: CopyProgress): void
}

/**
 * Copies a snapshot of a database, which may be in use, to one file without a log, on disk and verified. Throws a
 * SetupError if `from` is not a Plant Store or is damaged.
 */
export async function copyDatabase(options: CopyOptions): Promise<DatabaseCopy> {
  const { from, to, onProgress } = options
  const source = openForeign(from)
  let plants: number
  let bytes: number
  try {
    // Without a snapshot SQLite would restart the copy at every write of another process.
    source.exec('BEGIN')
    checkIsPlantStore(source, from)
    if (options.isForeign) checkSchema(source, from)
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

function checkSchema(database: DatabaseSync, path: string): void {
  const [difference] = findSchemaDifferences(database)
  if (difference === undefined) return
  throw new SetupError(`${path} cannot be trusted: ${difference}. "plantstore check" lists all differences.`)
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
    // The pages are in WAL mode. A copy is one file.
    database.exec('PRAGMA journal_mode = DELETE')
    const finding = database.prepare('PRAGMA quick_check(1)').get()?.quick_check
    if (finding !== 'ok') {
      throw new SetupError(
        `${from} is damaged, so it was not copied: ${String(finding).replaceAll('\n', ' ')}`,
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
