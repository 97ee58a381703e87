import { chownSync, mkdtempSync, rmSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sharedVariables } from '../shared-variables.ts'
import { postgresAccount, postgresProgram, runProgram } from './postgres-installation.ts'

export const SUPERUSER = 'postgres'
/** With characters that a URL has to escape. */
export const PASSWORD = 'p@ss/word: 1%'

/** A new folder that belongs to the account that PostgreSQL runs as. */
export function makePostgresFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'plantstore-postgres-'))
  const { uid, gid } = postgresAccount()
  if (uid !== undefined && gid !== undefined) chownSync(folder, uid, gid)
  return folder
}

/** Makes the cluster that the servers of a run are copies of. */
export async function makePostgresTemplate(): Promise<{ folder: string; remove(): void }> {
  const folder = makePostgresFolder()
  const data = join(folder, 'template')
  await initializeCluster(data, folder)
  return { folder: data, remove: () => rmSync(folder, { recursive: true, force: true }) }
}

/** Makes a cluster whose superuser has to give the password, over TCP as over the socket. */
export async function makeCluster(data: string, folder: string): Promise<void> {
  const template = process.env[sharedVariables.postgresTemplate]
  if (template === undefined) await initializeCluster(data, folder)
  else await runProgram('cp', ['-a', '--reflink=auto', template, data], folder)
}

async function initializeCluster(data: string, folder: string): Promise<void> {
  const passwordFile = join(folder, 'password')
  await writeFile(passwordFile, PASSWORD)
  const access = ['-U', SUPERUSER, '-A', 'scram-sha-256', `--pwfile=${passwordFile}`]
  const rest = ['-E', 'UTF8', '--locale=C', '--no-sync', '--no-instructions']
  await runProgram(postgresProgram('initdb'), ['-D', data, ...access, ...rest], folder)
}
