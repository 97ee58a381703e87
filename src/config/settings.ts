import type { Setting } from './setting.ts'

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const
const HOUR_MS = 3_600_000
const MIB = 1024 * 1024
/** More than the service can handle. */
const RATE_MAX = 1_000_000

/**
 * Every setting: its type, bounds, default and description. The name gives the environment variable
 * (`queuedWritesMax`: PLANTSTORE_QUEUED_WRITES_MAX) and the flag of `plantstore serve` (--queued-writes-max).
 */
export const SETTINGS = {
  host: { type: 'text', default: '127.0.0.1', about: 'Address to listen on; 0.0.0.0: every address' },
  port: integer(8080, [0, 65_535], 'Port to listen on; 0: any free port'),
  tlsCert: {
    type: 'file',
    about: 'Certificate file for TLS (PEM, followed by its chain); requires a key',
  },
  tlsKey: { type: 'file', about: 'Private key file of the certificate (PEM, without a passphrase)' },
  socket: { type: 'file', about: 'Unix socket to listen on instead of a port' },
  database: {
    type: 'file',
    default: 'data/plantstore.db',
    about: 'SQLite file, created if missing, or postgres://user:password@host/database',
  },
  baseUrl: { type: 'url', about: 'Public URL of the service; its path prefixes every route' },
  corsOrigins: {
    type: 'origins',
    about: 'Origins that may call the service from a browser, separated by commas; *: any',
  },
  fixedToken: {
    type: 'secret',
    about:
      'Fixed token with every scope, in addition to those in the store; not a token that a store created',
  },
  oidcIssuer: {
    type: 'url',
    isSecure: true,
    about: 'OpenID provider whose JWTs are accepted, exactly as in its iss claim; requires an audience',
  },
  oidcAudience: {
    type: 'text',
    about: "Name of this service in the aud claim of the provider's tokens",
  },
  oidcScopeClaim: {
    type: 'text',
    default: 'scope',
    about: 'Claim with the scopes of a JWT; a nested claim as realm_access.roles',
  },
  oidcScopeMap: {
    type: 'text',
    about: "Maps the provider's scopes to ours: plants:read=viewer,plants:write=editor. Default: same names",
  },
  bodyBytesMax: integer(MIB, [1024, 64 * MIB], 'Maximum size of a request body, in bytes'),
  headersTimeoutMs: integer(10_000, [100, HOUR_MS], 'Time limit for the header fields of a request'),
  requestTimeoutMs: integer(
    30_000,
    [100, HOUR_MS],
    'Time limit for a whole request; for an import, between two chunks',
  ),
  keepAliveTimeoutMs: integer(
    65_000,
    [0, HOUR_MS],
    'Time limit for an idle connection; set it above the one of a load balancer',
  ),
  sendTimeoutMs: integer(
    60_000,
    [100, HOUR_MS],
    'Time limit for a client to read on; then the connection is dropped',
  ),
  exportTimeoutMs: integer(
    HOUR_MS,
    [100, 24 * HOUR_MS],
    'Time limit for an export, which keeps old data on disk; then the connection is dropped',
  ),
  connectionsMax: integer(10_000, [0, RATE_MAX], 'Maximum number of open connections; 0: unlimited'),
  connectionsPerAddressMax: integer(
    5_000,
    [0, RATE_MAX],
    'Maximum number of open connections per address, trusted proxies excepted; 0: unlimited',
  ),
  shutdownDelayMs: integer(
    0,
    [0, HOUR_MS],
    'Time after SIGTERM with normal service while /readyz responds 503',
  ),
  shutdownTimeoutMs: integer(10_000, [0, HOUR_MS], 'Time limit for requests in flight after SIGTERM'),
  queuedWritesMax: integer(
    10_000,
    [1, 1_000_000],
    'Maximum number of queued writes; more are rejected with 503',
  ),
  writeLagMaxMs: integer(
    150,
    [1, HOUR_MS],
    'Maximum expected wait of a write for its commit; beyond it writes are rejected with 503',
  ),
  eventLoopLagMaxMs: integer(
    100,
    [1, HOUR_MS],
    'Maximum lag of the event loop; beyond it writes are rejected with 503',
  ),
  rateLimit: rate('Requests a second per token and scope; 0: no rate limits at all'),
  rateLimitPlantsRead: rate('Requests a second per token that require plants:read; 0: unlimited'),
  rateLimitPlantsWrite: rate('Requests a second per token that require plants:write; 0: unlimited'),
  rateLimitTokensManage: rate('Requests a second per token that require tokens:manage; 0: unlimited'),
  failedAuthenticationsMax: integer(60, [0, RATE_MAX], 'Invalid tokens a minute per address; 0: unlimited'),
  trustedProxies: {
    type: 'addresses',
    about:
      'Proxies with trusted X-Forwarded-For: addresses, ranges, loopback, linklocal, uniquelocal, with commas',
  },
  idempotencyTtlMs: integer(
    24 * HOUR_MS,
    [1_000, 365 * 24 * HOUR_MS],
    'How long an idempotency key is stored',
  ),
  slowRequestMs: integer(1_000, [0, HOUR_MS], 'Duration above which a request is logged as slow'),
  migrate: {
    type: 'boolean',
    default: true,
    about: 'Migrate the schema of the database on start; false: run "plantstore migrate" instead',
  },
  postgresConnections: integer(
    10,
    [1, 1_000],
    'Connections to PostgreSQL for reads; one for writes and up to four for exports are added',
  ),
  postgresConnectTimeoutMs: integer(
    5_000,
    [100, HOUR_MS],
    'Time limit for opening a connection to PostgreSQL',
  ),
  postgresStatementTimeoutMs: integer(10_000, [100, HOUR_MS], 'Time limit for a statement of PostgreSQL'),
  postgresPrepare: {
    type: 'boolean',
    default: true,
    about: 'Prepare statements; false behind a pooler in transaction mode without prepared statements',
  },
  backupDir: {
    type: 'folder',
    about: 'Folder for scheduled backups of the SQLite file; without it there are none',
  },
  backupIntervalMs: integer(24 * HOUR_MS, [1_000, 7 * 24 * HOUR_MS], 'Time between two scheduled backups'),
  backupsKept: integer(7, [1, 10_000], 'Number of retained backups; older ones are deleted after a new one'),
  logLevel: { type: 'choice', choices: LOG_LEVELS, default: 'info', about: 'Lowest level that is logged' },
  metrics: {
    type: 'boolean',
    default: true,
    about: 'Serve metrics at /metrics',
  },
  checkOnStart: {
    type: 'boolean',
    default: false,
    about: 'Check the SQLite file on start; slow for a large file',
  },
} as const satisfies Record<string, Setting>

/** Settings of the commands that call a service, from their flags or the environment. */
export const CLIENT_SETTINGS = {
  url: {
    type: 'url',
    default: 'http://127.0.0.1:8080',
    about: 'Base URL of the service, with its path',
  },
  // JWTs are longer than our own tokens; the limit is the size of a request's header fields.
  token: { type: 'secret', maximum: 16_000, about: 'Bearer token' },
} as const satisfies Record<string, Setting>

/** A whole number: its default, bounds and description. */
function integer(byDefault: number, [minimum, maximum]: [number, number], about: string) {
  return { type: 'integer', default: byDefault, minimum, maximum, about } as const
}

/** Requests a second; unlimited if not set. */
function rate(about: string) {
  return { type: 'integer', minimum: 0, maximum: RATE_MAX, about } as const
}
