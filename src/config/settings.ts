import type { Setting } from './setting.ts'

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const
const HOUR_MS = 3_600_000
const MIB = 1024 * 1024
/** More than the service can do. */
const RATE_MAX = 1_000_000

/**
 * Every setting: its type and bounds, its default and what it is for. The name gives the environment variable
 * (`queuedWritesMax`: PLANTSTORE_QUEUED_WRITES_MAX) and the flag of `plantstore serve` (--queued-writes-max).
 */
export const SETTINGS = {
  host: { type: 'text', default: '127.0.0.1', about: 'Address to listen on; 0.0.0.0 for every one' },
  port: integer(8080, [0, 65_535], 'Port to listen on; 0 for any'),
  tlsCert: {
    type: 'text',
    about: 'File with the certificate (PEM, its chain behind it), to speak TLS; needs a key',
  },
  tlsKey: { type: 'text', about: 'File with the private key of the certificate (PEM, without a passphrase)' },
  socket: { type: 'text', about: 'Unix socket to listen on, instead of a port' },
  database: {
    type: 'text',
    default: 'data/plantstore.db',
    about: 'File that holds the store, made when missing, or postgres://user:password@host/database',
  },
  baseUrl: { type: 'url', about: 'Where clients reach the service; its path comes before every route' },
  corsOrigins: {
    type: 'origins',
    about: 'Origins whose pages may call the service from a browser, between commas; * for any',
  },
  fixedToken: {
    type: 'secret',
    about: 'One fixed token with every scope, beside those in the store, and none that a store made',
  },
  oidcIssuer: {
    type: 'url',
    isSecure: true,
    about: 'OpenID provider whose JWTs are let in, exactly as it calls itself; needs an audience',
  },
  oidcAudience: {
    type: 'text',
    about: 'What the provider calls this service in the claim aud of its tokens',
  },
  oidcScopeClaim: {
    type: 'text',
    default: 'scope',
    about: 'Claim that tells what a JWT may do; realm_access.roles for one in another',
  },
  oidcScopeMap: {
    type: 'text',
    about: 'What the provider calls the scopes: plants:read=viewer,plants:write=editor; the same by default',
  },
  bodyBytesMax: integer(MIB, [1024, 64 * MIB], 'Largest body of a request, in bytes'),
  headersTimeoutMs: integer(10_000, [100, HOUR_MS], 'Time for the header fields of a request to arrive'),
  requestTimeoutMs: integer(
    30_000,
    [100, HOUR_MS],
    'Time for a whole request to arrive; for an import, to go on arriving',
  ),
  keepAliveTimeoutMs: integer(
    65_000,
    [0, HOUR_MS],
    'Time that a connection may be idle; longer than that of a load balancer in front',
  ),
  sendTimeoutMs: integer(
    60_000,
    [100, HOUR_MS],
    'Time that an answer may wait for its client to read on; then the connection is cut off',
  ),
  connectionsMax: integer(
    10_000,
    [0, RATE_MAX],
    'Connections that may be open; more are closed at once; 0 for any number',
  ),
  connectionsPerAddressMax: integer(
    5_000,
    [0, RATE_MAX],
    'The same for one address, save those of trusted proxies; 0 for any number',
  ),
  shutdownDelayMs: integer(
    0,
    [0, HOUR_MS],
    'Time after SIGTERM in which all is still served, and /readyz says 503 to load balancers',
  ),
  shutdownTimeoutMs: integer(10_000, [0, HOUR_MS], 'Time for requests in flight to finish after SIGTERM'),
  queuedWritesMax: integer(
    10_000,
    [1, 1_000_000],
    'Writes that may wait for a commit; more are refused with 503',
  ),
  writeLagMaxMs: integer(
    150,
    [1, HOUR_MS],
    'Time that a write may have to wait for its commit to begin; more are refused with 503',
  ),
  eventLoopLagMaxMs: integer(
    100,
    [1, HOUR_MS],
    'Time that requests may have to wait until they are read; beyond, writes are refused with 503',
  ),
  rateLimit: rate('Requests a second that a token may make, for each scope; 0 turns every limit off'),
  rateLimitPlantsRead: rate('The same for what needs plants:read alone; 0 for any number'),
  rateLimitPlantsWrite: rate('The same for what needs plants:write alone; 0 for any number'),
  rateLimitTokensManage: rate('The same for what needs tokens:manage alone; 0 for any number'),
  failedAuthenticationsMax: integer(
    60,
    [0, RATE_MAX],
    'Tokens that are not valid which one address may send in a minute; 0 for any number',
  ),
  trustedProxies: {
    type: 'addresses',
    about:
      'Proxies whose X-Forwarded-For is believed: addresses, ranges, loopback, linklocal, uniquelocal, with commas',
  },
  idempotencyTtlMs: integer(
    24 * HOUR_MS,
    [1_000, 365 * 24 * HOUR_MS],
    'Time that an idempotency key is remembered',
  ),
  slowRequestMs: integer(1_000, [0, HOUR_MS], 'Requests that take longer are logged'),
  migrate: {
    type: 'boolean',
    default: true,
    about:
      'Whether the start brings the schema of the database up to date; false leaves it to "plantstore migrate"',
  },
  postgresConnections: integer(
    10,
    [1, 1_000],
    'Connections to PostgreSQL for reads, beside one for writes and up to four for exports',
  ),
  postgresConnectTimeoutMs: integer(5_000, [100, HOUR_MS], 'Time for a connection to PostgreSQL to open'),
  postgresStatementTimeoutMs: integer(10_000, [100, HOUR_MS], 'Time for PostgreSQL to answer'),
  postgresPrepare: {
    type: 'boolean',
    default: true,
    about: 'Prepare statements; false behind a pooler that forgets them between transactions',
  },
  backupDir: {
    type: 'text',
    about:
      'Folder that backups of the file are written to; none without it. "plantstore backup" needs no setting',
  },
  backupIntervalMs: integer(
    24 * HOUR_MS,
    [1_000, 7 * 24 * HOUR_MS],
    'Age of the newest backup at which another one is made',
  ),
  backupsKept: integer(7, [1, 10_000], 'Backups that are kept; older ones are removed after a new one'),
  logLevel: { type: 'choice', choices: LOG_LEVELS, default: 'info', about: 'What is logged' },
  metrics: {
    type: 'boolean',
    default: true,
    about: 'Whether the service counts what it does, and tells it at /metrics',
  },
  checkOnStart: {
    type: 'boolean',
    default: false,
    about: 'Examine the file of the store before it is used; slow on a large one',
  },
} as const satisfies Record<string, Setting>

/** Settings of the commands that call a service, from their flags or the environment. */
export const CLIENT_SETTINGS = {
  url: {
    type: 'url',
    default: 'http://127.0.0.1:8080',
    about: 'Where the service is; the path of its base URL belongs to it',
  },
  // A JWT of a provider is longer than any token of the store; what the header fields of a request hold is the end.
  token: { type: 'secret', maximum: 16_000, about: 'The token that is sent' },
} as const satisfies Record<string, Setting>

/** A whole number: its default, the least and the most that it may be, and what it is for. */
function integer(byDefault: number, [minimum, maximum]: [number, number], about: string) {
  return { type: 'integer', default: byDefault, minimum, maximum, about } as const
}

/** Requests a second; there is no limit where it is not set. */
function rate(about: string) {
  return { type: 'integer', minimum: 0, maximum: RATE_MAX, about } as const
}
