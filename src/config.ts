import { SetupError } from './errors.ts'
import { parseSetting, type Setting, type ValueOf } from './setting.ts'

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const
const HOUR_MS = 3_600_000

/**
 * Every setting: its type and bounds, its default and what it is for. The name gives the environment variable
 * (`queuedWritesMax`: PLANTSTORE_QUEUED_WRITES_MAX) and the flag of `plantstore serve` (--queued-writes-max).
 */
export const SETTINGS = {
  host: { type: 'text', default: '127.0.0.1', about: 'Address to listen on; 0.0.0.0 for every one' },
  port: {
    type: 'integer',
    default: 8080,
    minimum: 0,
    maximum: 65_535,
    about: 'Port to listen on; 0 for any',
  },
  database: {
    type: 'text',
    default: 'data/plantstore.db',
    about: 'File that holds the store, made when missing, or postgres://user:password@host/database',
  },
  baseUrl: { type: 'url', about: 'Where clients reach the service; its path comes before every route' },
  token: { type: 'secret', about: 'One fixed token with every scope, beside those in the store' },
  bodyBytesMax: {
    type: 'integer',
    default: 1024 * 1024,
    minimum: 1024,
    maximum: 64 * 1024 * 1024,
    about: 'Largest body of a request, in bytes',
  },
  headersTimeoutMs: {
    type: 'integer',
    default: 10_000,
    minimum: 100,
    maximum: HOUR_MS,
    about: 'Time for the header fields of a request to arrive',
  },
  requestTimeoutMs: {
    type: 'integer',
    default: 30_000,
    minimum: 100,
    maximum: HOUR_MS,
    about: 'Time for a whole request to arrive; for an import, to go on arriving',
  },
  keepAliveTimeoutMs: {
    type: 'integer',
    default: 65_000,
    minimum: 0,
    maximum: HOUR_MS,
    about: 'Time that a connection may be idle; longer than that of a load balancer in front',
  },
  shutdownTimeoutMs: {
    type: 'integer',
    default: 10_000,
    minimum: 0,
    maximum: HOUR_MS,
    about: 'Time for requests in flight to finish after SIGTERM',
  },
  queuedWritesMax: {
    type: 'integer',
    default: 10_000,
    minimum: 1,
    maximum: 1_000_000,
    about: 'Writes that may wait for a commit; more are refused with 503',
  },
  idempotencyTtlMs: {
    type: 'integer',
    default: 24 * HOUR_MS,
    minimum: 1_000,
    maximum: 365 * 24 * HOUR_MS,
    about: 'Time that an idempotency key is remembered',
  },
  slowRequestMs: {
    type: 'integer',
    default: 1_000,
    minimum: 0,
    maximum: HOUR_MS,
    about: 'Requests that take longer are logged',
  },
  migrate: {
    type: 'choice',
    choices: ['on', 'off'],
    default: 'on',
    about:
      'Whether the start brings the schema of the database up to date; off leaves it to "plantstore migrate"',
  },
  postgresConnections: {
    type: 'integer',
    default: 10,
    minimum: 1,
    maximum: 1_000,
    about: 'Connections to PostgreSQL for reads, beside one for writes and up to four for exports',
  },
  postgresConnectTimeoutMs: {
    type: 'integer',
    default: 5_000,
    minimum: 100,
    maximum: HOUR_MS,
    about: 'Time for a connection to PostgreSQL to open',
  },
  postgresStatementTimeoutMs: {
    type: 'integer',
    default: 10_000,
    minimum: 100,
    maximum: HOUR_MS,
    about: 'Time for PostgreSQL to answer',
  },
  postgresPrepare: {
    type: 'boolean',
    default: true,
    about: 'Prepare statements; false behind a pooler that forgets them between transactions',
  },
  logLevel: { type: 'choice', choices: LOG_LEVELS, default: 'info', about: 'What is logged' },
  quickCheck: {
    type: 'boolean',
    default: false,
    about: 'Examine the file of the store before it is used; slow on a large one',
  },
} as const satisfies Record<string, Setting>

/**
 * What the commands read that talk to a service, from their flags or from the same environment. The variable
 * of the token is the one of the service: where both run with one environment, the token fits.
 */
export const CLIENT_SETTINGS = {
  url: {
    type: 'url',
    default: 'http://127.0.0.1:8080',
    about: 'Where the service is; the path of its base URL belongs to it',
  },
  token: { type: 'secret', about: 'The token that is sent' },
} as const satisfies Record<string, Setting>

export type SettingName = keyof typeof SETTINGS
type ClientSettingName = keyof typeof CLIENT_SETTINGS

type ValuesOf<Table extends Record<string, Setting>> = {
  readonly [Name in keyof Table]: Table[Name] extends { default: string | number | boolean }
    ? ValueOf<Table[Name]>
    : ValueOf<Table[Name]> | undefined
}

export type Config = ValuesOf<typeof SETTINGS>
export type ClientConfig = ValuesOf<typeof CLIENT_SETTINGS>

export type Environment = Readonly<Record<string, string | undefined>>

/**
 * The settings, from the flags of the command line first, then from the environment, then from the defaults.
 * The only reader of `process.env`. Throws a SetupError that names the setting and what it may be.
 */
export function readConfig(
  flags: Partial<Record<SettingName, string | boolean>> = {},
  environment: Environment = process.env,
): Config {
  return readSettings(SETTINGS, flags, environment) as Config
}

/** `readConfig` for the commands that talk to a service. */
export function readClientConfig(
  flags: Partial<Record<ClientSettingName, string>> = {},
  environment: Environment = process.env,
): ClientConfig {
  return readSettings(CLIENT_SETTINGS, flags, environment) as ClientConfig
}

function readSettings(
  settings: Record<string, Setting>,
  flags: Record<string, string | boolean>,
  environment: Environment,
): Record<string, unknown> {
  checkNames(environment)
  const config: Record<string, unknown> = {}
  for (const [name, setting] of Object.entries(settings)) {
    const flag = flags[name]
    const variable = environment[variableOf(name)]
    if (flag !== undefined) config[name] = parseSetting(flagOf(name), setting, String(flag))
    else if (variable !== undefined && variable !== '')
      config[name] = parseSetting(variableOf(name), setting, variable)
    else config[name] = setting.default
  }
  return Object.freeze(config)
}

/** `queuedWritesMax`: PLANTSTORE_QUEUED_WRITES_MAX */
export function variableOf(name: string): string {
  return `PLANTSTORE_${name.replace(/[A-Z]/g, '_$&').toUpperCase()}`
}

/** `queuedWritesMax`: --queued-writes-max */
export function flagOf(name: string): string {
  return `--${name.replace(/[A-Z]/g, '-$&').toLowerCase()}`
}

function checkNames(environment: Environment): void {
  const known = new Set([...Object.keys(SETTINGS), ...Object.keys(CLIENT_SETTINGS)].map(variableOf))
  for (const name of Object.keys(environment)) {
    if (name.startsWith('PLANTSTORE_') && !known.has(name)) {
      throw new SetupError(`There is no setting ${name}. See "plantstore serve --help" for those there are.`)
    }
  }
}
