import { readFileSync } from 'node:fs'
import { SettingError, SetupError } from '../../../errors.ts'

/** A server in a URL. A host that begins with a slash is the folder of a Unix socket. */
export interface PostgresHost {
  host: string
  port: number
}

/** The encryption of a connection, by the sslmode of libpq (postgresql.org/docs/current/libpq-ssl.html). */
export interface PostgresTls {
  mode: (typeof TLS_MODES)[number]
  ca?: Buffer
  cert?: Buffer
  key?: Buffer
}

/** The parts of a PostgreSQL URL. */
export interface PostgresTarget {
  hosts: PostgresHost[]
  database: string
  user: string
  password: string
  tls: PostgresTls
  applicationName: string
}

const TLS_MODES = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full'] as const
const UNUSABLE = 'The URL of the database cannot be used'
const PARAMETERS = [
  'host',
  'sslmode',
  'sslrootcert',
  'sslcert',
  'sslkey',
  'target_session_attrs',
  'application_name',
]
const DEFAULT_PORT = 5432

export function isPostgresUrl(database: string): boolean {
  return /^postgres(?:ql)?:\/\//i.test(database)
}

/**
 * Parses `postgres://user:password@host:port,host:port/database?parameters`. Throws a SetupError that names the wrong
 * part and never repeats the URL, which contains a password.
 */
export function parsePostgresUrl(text: string): PostgresTarget {
  const parts =
    /^postgres(?:ql)?:\/\/(?:([^:@/?#]*)(?::([^@/?#]*))?@)?([^@/?#]*)(?:\/([^?#]*))?(?:\?([^#]*))?$/i.exec(
      text,
    )
  if (parts === null)
    throw malformed('it must look like postgres://user:password@host:5432/database; encode @ : / ? # as %XX')
  const [, user = '', password = '', hosts = '', database = '', query = ''] = parts
  const parameters = new URLSearchParams(query)
  for (const name of parameters.keys()) {
    if (!PARAMETERS.includes(name)) {
      throw malformed(`its parameter ${JSON.stringify(name)} is unknown; known are ${PARAMETERS.join(', ')}`)
    }
  }
  const session = parameters.get('target_session_attrs') ?? 'read-write'
  if (session !== 'read-write' && session !== 'primary') {
    throw malformed('its target_session_attrs must be read-write: a standby is read-only')
  }
  if (user === '') throw malformed('it has no user')
  return {
    hosts: hostsIn(parameters.get('host') ?? hosts),
    user: decoded(user, 'user'),
    password: decoded(password, 'password'),
    database: decoded(database, 'database') || decoded(user, 'user'),
    tls: tlsIn(parameters),
    applicationName: parameters.get('application_name') ?? 'plantstore',
  }
}

/** The URL without password and parameters, for logs and messages. */
export function describeTarget({ hosts, user, database }: PostgresTarget): string {
  return `postgres://${user}@${hosts.map(describeHost).join(',')}/${database}`
}

function describeHost({ host, port }: PostgresHost): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
}

function hostsIn(text: string): PostgresHost[] {
  return text.split(',').map((one) => {
    if (one.startsWith('/')) return { host: one, port: DEFAULT_PORT }
    const parts = /^(?:\[([0-9A-Fa-f:.]+)\]|([^:[\]]+))(?::([0-9]{1,5}))?$/.exec(one)
    const port = Number(parts?.[3] ?? DEFAULT_PORT)
    if (parts === null || port < 1 || port > 65_535) throw malformed('its host or port is malformed')
    return { host: parts[1] ?? decoded(parts[2] ?? '', 'host'), port }
  })
}

function tlsIn(parameters: URLSearchParams): PostgresTls {
  const mode = TLS_MODES.find((known) => known === (parameters.get('sslmode') ?? 'prefer'))
  if (mode === undefined) throw malformed(`its sslmode must be one of ${TLS_MODES.join(', ')}`)
  const ca = fileIn(parameters, 'sslrootcert')
  const cert = fileIn(parameters, 'sslcert')
  const key = fileIn(parameters, 'sslkey')
  return {
    // With an sslrootcert `require` verifies the certificate, as in libpq.
    mode: mode === 'require' && ca !== undefined ? 'verify-ca' : mode,
    ...(ca && { ca }),
    ...(cert && { cert }),
    ...(key && { key }),
  }
}

function fileIn(parameters: URLSearchParams, name: string): Buffer | undefined {
  const path = parameters.get(name)
  if (path === null || path === 'system') return undefined
  try {
    return readFileSync(path)
  } catch (error) {
    // Not a SettingError: the file may exist at the next start.
    const { code } = error as NodeJS.ErrnoException
    throw new SetupError(`${UNUSABLE}: its ${name} cannot be read (${code}).`)
  }
}

function decoded(text: string, part: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw malformed(`its ${part} is not percent-encoded`)
  }
}

function malformed(reason: string): SettingError {
  return new SettingError(`${UNUSABLE}: ${reason}.`)
}
