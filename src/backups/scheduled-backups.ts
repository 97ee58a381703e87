import type { Logger } from 'pino'
import type { Config } from '../config/read-config.ts'
import { SettingError, SetupError } from '../errors.ts'
import { type BackupSchedule, createBackupSchedule, FilesMovedError } from './backup-schedule.ts'
import { databaseFile } from '../storage/open-storage.ts'

/**
 * The schedule of backups to the folder in the settings; undefined if they name none. Throws a SettingError if the
 * database is not a SQLite file, a SetupError if the folder is not writable.
 */
export function scheduledBackups(config: Config, log: Logger): BackupSchedule | undefined {
  const { backupDir: folder, backupIntervalMs: intervalMs, backupsKept: retained, database } = config
  if (folder === undefined) return undefined
  const file = backedUpFile(database)
  return createBackupSchedule({
    folder,
    intervalMs,
    retained,
    removeLeftovers: file.removeLeftovers,
    async backUp(target, signal) {
      const startMs = performance.now()
      const { plants, bytes } = await file.backUp(target, {
        signal,
        mayReplace: false,
        onProgress: () => undefined,
      })
      log.info({ file: target, plants, bytes, tookMs: Math.round(performance.now() - startMs) }, 'backed up')
    },
    onFailure(error) {
      log.error(
        { err: error, folder },
        error instanceof FilesMovedError
          ? 'no backup was made: the files of the database were moved, removed or replaced; the backup is retried'
          : 'no backup was made: check that the folder is writable and has space; the backup is retried',
      )
    },
    onNotRemoved(error) {
      log.error(
        { err: error, folder },
        'old backups cannot be removed: remove them by hand, before the disk is full; the new one is complete',
      )
    },
  })
}

/** The SQLite file in the setting `database`. Throws a SettingError if it names a PostgreSQL database. */
export function backedUpFile(database: string) {
  try {
    return databaseFile(database, 'backup')
  } catch (error) {
    if (!(error instanceof SetupError)) throw error
    throw new SettingError(`PLANTSTORE_BACKUP_DIR needs a SQLite file. ${error.message}`)
  }
}
