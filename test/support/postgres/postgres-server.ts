import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { appendFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { eventually } from '../eventually.ts'
import { findFreePort } from '../free-port.ts'
import type { Lifetime } from '../http/start-app.ts'
import { copyPostgresData } from './copy-postgres-data.ts'
import { postgresProgram, runProgram } from './postgres-installation.ts'
import { type PostgresProcess, runPostgres } from './postgres-process.ts'
import { makeCluster, makePostgresFolder, PASSWORD, SUPERUSER } from './postgres-template.ts'

export { postgresMissing } from './postgres-installation.ts'

const HOST = '127.0.0.1'
/** Far more than a start, a recovery or a promotion takes here. */
const PATIENCE_MS = 30_000

/** What is set for every server, before the settings of a test. */
const SETTINGS: Record<string, string> = {
  // A process that is killed loses nothing that the system has. On a disk that others keep busy, the files of a
  // server are synced for half a minute when it is started after that.
  fsync: 'off',
  listen_addresses: HOST,
  logging_collector: 'off',
  // In files of the server, so that nothing stays in /dev/shm after a kill.
  dynamic_shared_memory_type: 'mmap',
  shared_buffers: '32MB',
}

export interface PostgresOptions {
  /** Settings by their names in postgresql.conf. `fsync` is off unless one of these says otherwise. */
  settings?: Record<string, string>
  /** Whether it takes TLS, with a certificate made for it. */
  tls?: boolean
}

export interface PostgresServer {
  port: number
  /** The certificate that it signed itself; undefined without `tls`. */
  certificateFile: string | undefined
  /** What it logged so far, over all of its starts. */
  readonly log: string
  /** The URL of a database, for the superuser; of `postgres` by default. */
  url(database?: string): string
  /** Makes an empty database and gives its URL. */
  createDatabase(): Promise<string>
  /** What a statement gives: a line a row, `|` between columns. Throws what the server says against it. */
  query(sql: string, database?: string): Promise<string>
  /** Starts it again, on the same port and data; waits until it takes connections. */
  start(): Promise<void>
  /** `fast` rolls back and writes everything; `immediate` leaves the rest to recovery. Waits until it is gone. */
  stop(mode: 'fast' | 'immediate'): Promise<void>
  /** Ends every process of it at once, as a loss of power would; waits until they are gone. */
  kill(): Promise<void>
  /** Copies it to a standby, which streams when this returns; `name` is its application_name. */
  startStandby(name: string): Promise<PostgresStandby>
  /** Makes commits wait for all of these standbys, and waits until they do. None: commits wait no more. */
  makeSynchronous(names: readonly string[]): Promise<void>
}

export interface PostgresStandby extends PostgresServer {
  /** Makes it a server of its own; waits until it takes writes. */
  promote(): Promise<void>
}

/** The folder of a server and its standbys, and what all of them have in common. */
interface Site {
  folder: string
  certificateFile: string | undefined
  servers: { server: PostgresServer; data: string }[]
}

function urlOf(port: number, database: string): string {
  return `postgres://${SUPERUSER}:${encodeURIComponent(PASSWORD)}@${HOST}:${port}/${database}`
}

const quoteLiteral = (text: string) => `'${text.replaceAll("'", "''")}'`

function settingLines(settings: Record<string, string>): string {
  return Object.entries(settings)
    .map(([name, value]) => `${name} = ${quoteLiteral(value)}\n`)
    .join('')
}

/** A server on data that is there, not started yet. */
async function describeServer(site: Site, data: string): Promise<PostgresStandby> {
  const port = await findFreePort()
  let log = ''
  let running: PostgresProcess | undefined
  let databases = 0

  async function start() {
    if (running?.isRunning) return
    // Nothing of it runs, but its number may be another process's by now, which PostgreSQL would respect.
    rmSync(join(data, 'postmaster.pid'), { force: true })
    const started = runPostgres(
      ['-D', data, '-c', `port=${port}`, '-c', `unix_socket_directories=${site.folder}`],
      site.folder,
      (text) => {
        log += text
      },
    )
    running = started
    try {
      await eventually(async () => {
        if (!started.isRunning) throw new Error('It ended')
        return await runProgram(
          postgresProgram('pg_isready'),
          ['-h', HOST, '-p', `${port}`],
          site.folder,
        ).then(
          () => true,
          () => false,
        )
      }, PATIENCE_MS)
    } catch (error) {
      throw new Error(`PostgreSQL did not come up, and logged:\n${log}`, { cause: error })
    }
  }

  const server: PostgresStandby = {
    port,
    certificateFile: site.certificateFile,
    get log() {
      return log
    },
    url: (database = 'postgres') => urlOf(port, database),
    async createDatabase() {
      databases += 1
      const name = `test_${databases}`
      await server.query(`CREATE DATABASE ${name}`)
      return server.url(name)
    },
    query: (sql, database) =>
      runProgram(
        postgresProgram('psql'),
        ['-X', '-q', '-At', '-v', 'ON_ERROR_STOP=1', '-d', server.url(database), '-c', sql],
        site.folder,
      ),
    start,
    stop: async (mode) => await running?.end(mode === 'fast' ? 'SIGINT' : 'SIGQUIT'),
    kill: async () => await running?.kill(),
    startStandby: (name) => startStandby(site, server, name),
    async makeSynchronous(names) {
      const list = names.map((name) => `"${name}"`).join(', ')
      const value = names.length === 0 ? '' : `FIRST ${names.length} (${list})`
      await server.query(`ALTER SYSTEM SET synchronous_standby_names = ${quoteLiteral(value)}`)
      await server.query('SELECT pg_reload_conf()')
      const synchronous = `SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'`
      await eventually(async () => Number(await server.query(synchronous)) === names.length, PATIENCE_MS)
    },
    async promote() {
      await server.query('SELECT pg_promote()')
      await eventually(async () => (await server.query('SELECT pg_is_in_recovery()')) === 'f', PATIENCE_MS)
    },
  }
  site.servers.push({ server, data })
  return server
}

async function startStandby(site: Site, primary: PostgresServer, name: string): Promise<PostgresStandby> {
  const data = join(site.folder, `standby-${site.servers.length}`)
  await copyPostgresData(primary.url(), await primary.query('SHOW data_directory'), data)
  const source = `${primary.url()}?application_name=${encodeURIComponent(name)}`
  // Once promoted it has no standby to wait for.
  const settings = { primary_conninfo: source, synchronous_standby_names: '' }
  await appendFile(join(data, 'postgresql.auto.conf'), settingLines(settings))
  await writeFile(join(data, 'standby.signal'), '')
  const server = await describeServer(site, data)
  await server.start()
  const streaming = `SELECT true FROM pg_stat_replication
    WHERE state = 'streaming' AND application_name = ${quoteLiteral(name)}`
  await eventually(async () => (await primary.query(streaming)) === 't', PATIENCE_MS)
  return server
}

/** Writes a key and a certificate for 127.0.0.1 into the folder. */
async function makeCertificate(folder: string): Promise<{ certificateFile: string; keyFile: string }> {
  const certificateFile = join(folder, 'server.crt')
  const keyFile = join(folder, 'server.key')
  const kind = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2']
  const subject = ['-subj', `/CN=${HOST}`, '-addext', `subjectAltName=IP:${HOST},DNS:localhost`]
  await runProgram(
    'openssl',
    ['req', ...kind, ...subject, '-keyout', keyFile, '-out', certificateFile],
    folder,
  )
  return { certificateFile, keyFile }
}

/** A server that was killed leaves its lock and with it a segment of shared memory, which would outlive the test. */
function removeSharedMemory(data: string): void {
  const lock = join(data, 'postmaster.pid')
  if (!existsSync(lock)) return
  const id = readFileSync(lock, 'utf8').split('\n')[6]?.trim().split(/\s+/)[1]
  if (id !== undefined) execFileSync('ipcrm', ['-m', id])
}

/**
 * Starts a new PostgreSQL in a temporary folder, on a free port of 127.0.0.1. It, its standbys and the folder go
 * when the test ends, or when the tests die. Throws, with its log, when it does not come up.
 */
export async function startPostgres(
  owner: Lifetime,
  { settings = {}, tls = false }: PostgresOptions = {},
): Promise<PostgresServer> {
  const folder = makePostgresFolder()
  const site: Site = { folder, certificateFile: undefined, servers: [] }
  owner.after(async () => {
    await Promise.all(site.servers.map(({ server }) => server.stop('immediate')))
    for (const { data } of site.servers) removeSharedMemory(data)
    rmSync(folder, { recursive: true, force: true })
  })
  const security: Record<string, string> = {}
  if (tls) {
    const { certificateFile, keyFile } = await makeCertificate(folder)
    site.certificateFile = certificateFile
    Object.assign(security, { ssl: 'on', ssl_cert_file: certificateFile, ssl_key_file: keyFile })
  }
  const data = join(folder, 'primary')
  await makeCluster(data, folder)
  const lines = settingLines({ ...SETTINGS, ...security, ...settings })
  await appendFile(join(data, 'postgresql.conf'), lines)
  const server = await describeServer(site, data)
  await server.start()
  return server
}
