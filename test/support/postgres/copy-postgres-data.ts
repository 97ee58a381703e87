import { rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { postgresProgram, runProgram } from './postgres-installation.ts'

/**
 * Copies the data of a running server to a folder beside it that is not there yet (PostgreSQL's "Making a Base
 * Backup Using the Low Level API"): some packages have no pg_basebackup, and an older one rejects a newer server.
 */
export async function copyPostgresData(url: string, from: string, to: string): Promise<void> {
  const steps = [
    '\\o /dev/null',
    "SELECT pg_backup_start('standby', true)",
    // A file that is gone before it was copied was not needed.
    `\\! cp -a '${from}' '${to}' 2>/dev/null`,
    `\\o '${join(to, 'backup_label')}'`,
    'SELECT labelfile FROM pg_backup_stop(false)',
  ]
  await runProgram(
    postgresProgram('psql'),
    ['-X', '-q', '-At', '-v', 'ON_ERROR_STOP=1', '-d', url, ...steps.flatMap((step) => ['-c', step])],
    dirname(to),
  )
  for (const file of ['postmaster.pid', 'postmaster.opts']) rmSync(join(to, file), { force: true })
}
