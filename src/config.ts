import { SetupError } from './errors.ts'

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
    about: 'Time for a whole request to arrive',
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
    about: 'Connections to PostgreSQL for reads, beside one for writes',
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

interface Setting {
  type: 'text' | 'secret' | 'url' | 'integer' | 'boolean' | 'choice'
  default?: string | number | boolean
  minimum?: number
  maximum?: number
  choices?: readonly string[]
  about: string
}

export type SettingName = keyof typeof SETTINGS

type ValueOf<S extends Setting> = S extends { type: 'integer' }
  ? number
  : S extends { type: 'boolean' }
    ? boolean
    : S extends { choices: readonly (infer Choice)[] }
      ? Choice
      : string

export type Config = {
  readonly [Name in SettingName]: (typeof SETTINGS)[Name] extends { default: string | number | boolean }
    ? ValueOf<(typeof SETTINGS)[Name]>
    : ValueOf<(typeof SETTINGS)[Name]> | undefined
}

export type Environment = Readonly<Record<string, string | undefined>>

/**
 * The settings, from the flags of the command line first, then from the environment, then from the defaults.
 * The only reader of `process.env`. Throws a SetupError that names the setting and what it may be.
 */
export function readConfig(
  flags: Partial<Record<SettingName, string | boolean>> = {},
  environment: Environment = process.env,
): Config {
  checkNames(environment)
  const config: Record<string, unknown> = {}
  for (const [name, setting] of Object.entries(SETTINGS) as [SettingName, Setting][]) {
    const flag = flags[name]
    const variable = environment[variableOf(name)]
    if (flag !== undefined) config[name] = parseSetting(flagOf(name), setting, String(flag))
    else if (variable !== undefined && variable !== '')
      config[name] = parseSetting(variableOf(name), setting, variable)
    else config[name] = setting.default
  }
  return Object.freeze(config as Config)
}

/** `queuedWritesMax`: PLANTSTORE_QUEUED_WRITES_MAX */
export function variableOf(name: SettingName): string {
  return `PLANTSTORE_${name.replace(/[A-Z]/g, '_$&').toUpperCase()}`
}

/** `queuedWritesMax`: --queued-writes-max */
export function flagOf(name: SettingName): string {
  return `--${name.replace(/[A-Z]/g, '-$&').toLowerCase()}`
}

function checkNames(environment: Environment): void {
  const known = new Set((Object.keys(SETTINGS) as SettingName[]).map(variableOf))
  for (const name of Object.keys(environment)) {
    if (name.startsWith('PLANTSTORE_') && !known.has(name)) {
      throw new SetupError(`There is no setting ${name}. See "plantstore serve --help" for those there are.`)
    }
  }
}

function parseSetting(source: string, setting: Setting, text: string): string | number | boolean {
  // Quoted as JSON, so that the message stays one line.
  const refused = (rule: string) => new SetupError(`${source} must be ${rule}, not ${JSON.stringify(text)}.`)
  switch (setting.type) {
    case 'integer': {
      const { minimum = 0, maximum = Number.MAX_SAFE_INTEGER } = setting
      const value = /^\d+$/.test(text) ? Number(text) : Number.NaN
      if (value >= minimum && value <= maximum) return value
      throw refused(`a whole number from ${minimum} to ${maximum}`)
    }
    case 'boolean':
      if (text === 'true' || text === 'false') return text === 'true'
      throw refused('true or false')
    case 'choice':
      if (setting.choices?.includes(text)) return text
      throw refused(`one of ${setting.choices?.join(', ')}`)
    case 'url':
      if (isBaseUrl(text)) return text
      // Not told again, like a secret: it may hold a password.
      throw new SetupError(
        `${source} must be an http or https URL with a plain path at most: no user, query or fragment.`,
      )
    case 'secret':
      // Not told again: a message may end in a log.
      if (/^[A-Za-z0-9\-._~+/]{16,512}=*$/.test(text)) return text
      throw new SetupError(
        `${source} must be 16 to 512 of the characters A-Z a-z 0-9 - . _ ~ + / (RFC 6750).`,
      )
    case 'text':
      // An empty host would be every address of the machine.
      if (text !== '') return text
      throw refused('a text')
  }
}

/**
 * Whether the path can stand before every route as it is written: no pattern, nothing encoded, no empty
 * segment.
 */
function isBaseUrl(text: string): boolean {
  const url = URL.parse(text)
  return (
    url !== null &&
    /^https?:$/.test(url.protocol) &&
    /^(?:\/[A-Za-z0-9\-._~]+)*\/?$/.test(url.pathname) &&
    url.username + url.password + url.search + url.hash === ''
  )
}
