import { accessSync, constants, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { SetupError } from '../errors.ts'
import { makeFolder } from '../storage/make-folder.ts'
import { systemReason } from '../storage/system-reason.ts'

/** The delay of a retry after a failure, unless the interval is shorter. */
const RETRY_AFTER_MS = 5 * 60_000

/** The names of backups hold their time in UTC, so they sort by age. */
const BACKUP_NAME = /^plantstore-(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)(\d{3})Z\.db$/

/** The path of the database may lead to another database, or to none. */
export class FilesMovedError extends Error {}

export interface BackupScheduleOptions {
  folder: string
  intervalMs: number
  /** Backups to retain. Older ones are removed after a new one was created. */
  retained: number
  /** Writes a backup to the file, whole or not at all. Rejects with the reason of the signal if it is aborted. */
  backUp(file: string, signal: AbortSignal): Promise<void>
  /** Removes the partial files of killed backups from the folder. */
  removeLeftovers(folder: string, isOurs: (name: string) => boolean): void
  /** Called when a backup failed. */
  onFailure(error: unknown): void
  /** Called after a backup when old ones could not be removed, with the first error. */
  onNotRemoved(error: unknown): void
}

export interface BackupSchedule {
  /** Age of the newest backup at which the next one is created. */
  intervalMs: number
  /** Starts the schedule. A backup fails with a FilesMovedError while `filesMoved` is true. */
  start(filesMoved: () => boolean): void
  /**
   * The time of the newest backup in the folder, in milliseconds since 1970; undefined if there is none or the folder
   * cannot be read.
   */
  newestMs(): number | undefined
  /** Aborts a running backup, which leaves no file, and starts no more. */
  stop(): Promise<void>
}

/**
 * Backs up to a folder, one backup at a time, whenever the newest one there is older than the interval. Throws a
 * SetupError if the folder is not writable.
 */
export function createBackupSchedule(options: BackupScheduleOptions): BackupSchedule {
  const { folder, intervalMs, retained, backUp, onFailure } = options
  const controller = new AbortController()
  let timer: NodeJS.Timeout | undefined
  let running = Promise.resolve()
  let filesMoved = () => false

  function schedule(afterMs: number): void {
    if (controller.signal.aborted) return
    timer = setTimeout(() => {
      running = run()
    }, afterMs)
  }

  async function run(): Promise<void> {
    try {
      // Another service may back up to the same folder.
      const dueInMs = dueIn(backupsIn(folder), intervalMs)
      if (dueInMs > 0) return schedule(dueInMs)
      if (filesMoved()) throw new FilesMovedError()
      options.removeLeftovers(folder, isBackupName)
      const newest = backupName(Date.now())
      await backUp(join(folder, newest), controller.signal)
      removeOld(newest)
      schedule(dueIn(backupsIn(folder), intervalMs))
    } catch (error) {
      if (controller.signal.aborted) return
      onFailure(error)
      schedule(Math.min(intervalMs, RETRY_AFTER_MS))
    }
  }

  function removeOld(newest: string): void {
    // Backups from the future, of a clock that was ahead, do not count: they would displace this one.
    const old = backupsIn(folder).filter((name) => name <= newest)
    const failures: unknown[] = []
    for (const name of old.slice(0, -retained)) {
      try {
        rmSync(join(folder, name), { force: true })
      } catch (error) {
        failures.push(error)
      }
    }
    if (failures.length > 0) options.onNotRemoved(failures[0])
  }

  function newestMs(): number | undefined {
    try {
      return newestOf(backupsIn(folder), Date.now())
    } catch {
      // The next backup reports the reason.
      return undefined
    }
  }

  prepareFolder(folder)
  return {
    intervalMs,
    newestMs,
    start(areFilesMoved) {
      filesMoved = areFilesMoved
      schedule(0)
    },
    async stop() {
      controller.abort(new Error('the service stops'))
      clearTimeout(timer)
      await running
    },
  }
}

function prepareFolder(folder: string): void {
  try {
    makeFolder(folder)
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch (error) {
    throw new SetupError(`Backups cannot be written to ${folder}: ${systemReason(error)}.`, {
      cause: error,
    })
  }
}

/** The names of the backups in a folder, the oldest first. */
function backupsIn(folder: string): string[] {
  return readdirSync(folder).filter(isBackupName).sort()
}

/** The time of the newest backup. Backups from the future do not count: the clock has been set back since. */
function newestOf(names: readonly string[], nowMs: number): number | undefined {
  return names.map(timeOf).findLast((timeMs) => timeMs <= nowMs)
}

/** Milliseconds until the next backup is due. */
function dueIn(names: readonly string[], intervalMs: number): number {
  const nowMs = Date.now()
  const newestMs = newestOf(names, nowMs)
  return newestMs === undefined ? 0 : Math.max(0, newestMs + intervalMs - nowMs)
}

function timeOf(name: string): number {
  const [, year, month, day, hours, minutes, seconds, milliseconds] = BACKUP_NAME.exec(name) ?? []
  return Date.parse(`${year}-${month}-${day}T${hours}:${minutes}:${seconds}.${milliseconds}Z`)
}

function isBackupName(name: string): boolean {
  return BACKUP_NAME.test(name)
}

function backupName(timeMs: number): string {
  return `plantstore-${new Date(timeMs).toISOString().replace(/[-:.]/g, '')}.db`
}
