import type { Logger } from 'pino'
import type { Config } from '../config/read-config.ts'
import { SettingError, SetupError } from '../errors.ts'
import { type BackupSchedule, createBackupSchedule } from './backup-schedule.ts'
import { storeFile } from '../storage/open-storage.ts'

/**
 * The backups of the store to the folder that the settings name; undefined where they name none. Throws a
 * SettingError when the store is in no file, a SetupError when the folder cannot be written to.
 */
export function scheduledBackups(config: Config, log: Logger): BackupSchedule | undefined {
  const { backupDir: folder, backupIntervalMs: intervalMs, backupsKept: kept, database } = config
  if (folder === undefined) return undefined
  const store = backedUpFile(database)
  return createBackupSchedule({
    folder,
    intervalMs,
    kept,
    removeLeftovers: store.removeLeftovers,
    async backUp(file, signal) {
      const startMs = performance.now()
      const { plants, bytes } = await store.backUp(file, {
        signal,
        mayReplace: false,
        onProgress: () => undefined,
      })
      log.info({ file, plants, bytes, tookMs: Math.round(performance.now() - startMs) }, 'backed up')
    },
    onFailure(error) {
      log.error(
        { err: error, folder },
        'no backup was made: look whether the folder can be written to and has room; it is tried again',
      )
    },
    onNotRemoved(error) {
      log.error(
        { err: error, folder },
        'old backups cannot be removed: do it by hand, before the disk is full; a new one was made',
      )
    },
  })
}

/** The store that the setting `database` names. Throws a SettingError where it is in no file. */
export function backedUpFile(database: string) {
  try {
    return storeFile(database, 'backing it up')
  } catch (error) {
    if (!(error instanceof SetupError)) throw error
    throw new SettingError(`PLANTSTORE_BACKUP_DIR is for a store in a file. ${error.message}`)
  }
}
