import { Gauge, type Registry } from 'prom-client'
import type { BackupSchedule } from '../backups/backup-schedule.ts'

/** The part of the schedule that the metrics read. */
export type BackupTimes = Pick<BackupSchedule, 'intervalMs' | 'newestMs'>

/**
 * Registers the time of the newest backup and the interval of backups. The time is read from the folder, so it is
 * right after a restart, too.
 */
export function registerBackupMetrics(registry: Registry, { intervalMs, newestMs }: BackupTimes): void {
  new Gauge({
    name: 'plantstore_last_backup_timestamp_seconds',
    help: 'Time of the newest scheduled backup, in seconds since 1970; 0 if there is no backup',
    registers: [registry],
    collect() {
      // A value that is absent would raise no alert.
      this.set((newestMs() ?? 0) / 1000)
    },
  })
  new Gauge({
    name: 'plantstore_backup_interval_seconds',
    help: 'Interval of scheduled backups',
    registers: [registry],
  }).set(intervalMs / 1000)
}
