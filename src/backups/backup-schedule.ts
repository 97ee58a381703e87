import { accessSync, constants, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { SetupError } from '../errors.ts'
import { makeFolder } from '../storage/make-folder.ts'
import { systemReason } from '../storage/system-reason.ts'

/** After a failure the next try waits so long, or as long as the interval where that is shorter. */
const RETRY_AFTER_MS = 5 * 60_000

/** The names of backups: the time in UTC, so that their order is that of their ages. */
const BACKUP_NAME = /^plantstore-(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)(\d{3})Z\.db$/

export interface BackupScheduleOptions {
  folder: string
  intervalMs: number
  /** Backups that stay; the oldest beyond them go once there is a new one. */
  kept: number
  /** Writes a backup to the file, whole or not at all. Rejects with the reason of the signal once it is aborted. */
  backUp(file: string, signal: AbortSignal): Promise<void>
  /** Removes what backups that were killed left in the folder. */
  removeLeftovers(folder: string, isOurs: (name: string) => boolean): void
  /** No backup was made. */
  onFailure(error: unknown): void
  /** A backup was made, and old ones stay that should go: why the first of them does. */
  onNotRemoved(error: unknown): void
}

export interface BackupSchedule {
  /** Age of the newest backup at which another one is made. */
  intervalMs: number
  start(): void
  /**
   * When the newest backup in the folder was made, in milliseconds since 1970; undefined while there is none, or the
   * folder cannot be read.
   */
  newestMs(): number | undefined
  /** Ends a backup that runs, which leaves nothing behind, and begins no more. */
  stop(): Promise<void>
}

/**
 * What backs up to a folder whenever the newest backup there is older than the interval, one at a time. Throws a
 * SetupError when the folder cannot be written to.
 */
export function createBackupSchedule(options: BackupScheduleOptions): BackupSchedule {
  const { folder, intervalMs, kept, backUp, onFailure } = options
  const controller = new AbortController()
  let timer: NodeJS.Timeout | undefined
  let running = Promise.resolve()

  function schedule(afterMs: number): void {
    if (controller.signal.aborted) return
    timer = setTimeout(() => {
      running = run()
    }, afterMs)
  }

  async function run(): Promise<void> {
    try {
      // Another service may back up to the same folder.
      const restMs = restOf(backupsIn(folder), intervalMs)
      if (restMs > 0) return schedule(restMs)
      options.removeLeftovers(folder, isBackupName)
      const made = backupName(Date.now())
      await backUp(join(folder, made), controller.signal)
      removeOld(made)
      schedule(restOf(backupsIn(folder), intervalMs))
    } catch (error) {
      if (controller.signal.aborted) return
      onFailure(error)
      schedule(Math.min(intervalMs, RETRY_AFTER_MS))
    }
  }

  function removeOld(made: string): void {
    // Those of a clock that was ahead stay: counted, they would take the place of this one.
    const old = backupsIn(folder).filter((name) => name <= made)
    const failures: unknown[] = []
    for (const name of old.slice(0, -kept)) {
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
      // The next backup tells why.
      return undefined
    }
  }

  prepareFolder(folder)
  return {
    intervalMs,
    newestMs,
    start() {
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

/** Their names, the oldest first. */
function backupsIn(folder: string): string[] {
  return readdirSync(folder).filter(isBackupName).sort()
}

/** The time of the newest; those of a clock that went back since do not count. */
function newestOf(names: readonly string[], nowMs: number): number | undefined {
  return names.map(timeOf).findLast((timeMs) => timeMs <= nowMs)
}

/** How long the newest backup is new enough. */
function restOf(names: readonly string[], intervalMs: number): number {
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
