import { Gauge, type Registry } from 'prom-client'
import type { BackupSchedule } from '../backups/backup-schedule.ts'

/** What backups are looked at for. */
export type BackupTimes = Pick<BackupSchedule, 'intervalMs' | 'newestMs'>

/**
 * The age of the newest backup, in `registry`, and the one it should have at most. It is read from the folder, so a
 * start forgets nothing.
 */
export function registerBackupMetrics(registry: Registry, { intervalMs, newestMs }: BackupTimes): void {
  new Gauge({
    name: 'plantstore_last_backup_timestamp_seconds',
    help: 'When the newest scheduled backup was made, in seconds since 1970; 0 while there is none to be seen',
    registers: [registry],
    collect() {
      // Absent, it would set off no alert.
      this.set((newestMs() ?? 0) / 1000)
    },
  })
  new Gauge({
    name: 'plantstore_backup_interval_seconds',
    help: 'How often a backup is made',
    registers: [registry],
  }).set(intervalMs / 1000)
}
