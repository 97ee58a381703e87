import { spawn } from 'node:child_process'
import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { eventually } from '../eventually.ts'
import { findFreePort } from '../free-port.ts'
import type { Lifetime } from '../http/start-app.ts'
import { postgresAccount, postgresEnvironment } from './postgres-installation.ts'
import { makePostgresFolder } from './postgres-template.ts'

const PROGRAM = '/usr/sbin/pgbouncer'
const HOST = '127.0.0.1'

/** Why no PgBouncer can be started here, as the `skip` of a test. Never set in CI. */
export const pgbouncerMissing = existsSync(PROGRAM)
  ? undefined
  : 'there is no PgBouncer (apt-get install pgbouncer)'
if (pgbouncerMissing !== undefined && process.env.CI) throw new Error(`In CI, ${pgbouncerMissing}`)

export interface Pgbouncer {
  port: number
  /** The URL of a database behind it. */
  urlOf(url: string): string
  start(): Promise<void>
  /** Ends it at once, with all connections. */
  kill(): Promise<void>
}

/** Starts PgBouncer, in transaction mode, before the server that a URL names. */
export async function startPgbouncer(test: Lifetime, url: string): Promise<Pgbouncer> {
  const folder = makePostgresFolder()
  const { port: serverPort, username, password } = new URL(url)
  const port = await findFreePort()
  const users = join(folder, 'users.txt')
  const config = join(folder, 'pgbouncer.ini')
  writeFileSync(users, `"${username}" "${decodeURIComponent(password)}"\n`)
  writeFileSync(
    config,
    `[databases]
* = host=${HOST} port=${serverPort}
[pgbouncer]
listen_addr = ${HOST}
listen_port = ${port}
unix_socket_dir =
auth_type = plain
auth_file = ${users}
pool_mode = transaction
ignore_startup_parameters = statement_timeout,lock_timeout
`,
  )
  let running: ReturnType<typeof spawn> | undefined
  let log = ''

  async function start(): Promise<void> {
    const child = spawn(PROGRAM, [config], {
      cwd: folder,
      env: postgresEnvironment(folder),
      ...postgresAccount(),
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    running = child
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      log += text
    })
    await eventually(async () => {
      if (child.exitCode !== null) throw new Error(`PgBouncer ended, and logged:\n${log}`)
      return log.includes('listening on')
    })
    log = ''
  }

  async function kill(): Promise<void> {
    const child = running
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
    const exit = new Promise((resolve) => child.once('exit', resolve))
    child.kill('SIGKILL')
    await exit
  }

  test.after(async () => {
    await kill()
    rmSync(folder, { recursive: true, force: true })
  })
  await start()
  return {
    port,
    urlOf: (url) => url.replace(`:${serverPort}/`, `:${port}/`),
    start,
    kill,
  }
}
