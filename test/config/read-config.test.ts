import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  flagOf,
  readClientConfig,
  readConfig,
  type SettingName,
  variableOf,
} from '../../src/config/read-config.ts'
import type { Environment } from '../../src/config/setting.ts'
import { CLIENT_SETTINGS, SETTINGS } from '../../src/config/settings.ts'
import { SetupError } from '../../src/errors.ts'

const NAMES = Object.keys(SETTINGS) as SettingName[]

/**
 * For each setting a value other than its default, as text and as parsed, and invalid texts.
 */
const CASES: Record<SettingName, { text: string; value: unknown; wrong: string[] }> = {
  host: { text: '0.0.0.0', value: '0.0.0.0', wrong: [''] },
  port: { text: '0', value: 0, wrong: ['-1', '65536', '80.5', '0x50', 'http', ' 80', '1e3', '8080 '] },
  tlsCert: { text: '/etc/plants/cert.pem', value: '/etc/plants/cert.pem', wrong: [''] },
  tlsKey: { text: '/etc/plants/key.pem', value: '/etc/plants/key.pem', wrong: [''] },
  socket: { text: '/run/plants/plants.sock', value: '/run/plants/plants.sock', wrong: [''] },
  database: { text: '/var/lib/p.db', value: '/var/lib/p.db', wrong: [''] },
  baseUrl: {
    text: 'https://plants.example/api/',
    value: 'https://plants.example/api/',
    wrong: [
      'plants.example',
      '/api',
      'ftp://a.example',
      'https://a.example/?x=1',
      'https://a.example/#x',
      'https://user:password@a.example',
      'https://a.example/a//b',
      'https://a.example/:id',
      'https://a.example/*',
      'https://a.example/%61',
      'http://',
    ],
  },
  corsOrigins: {
    text: 'https://garden.example, http://localhost:5173',
    value: ['https://garden.example', 'http://localhost:5173'],
    wrong: [
      'garden.example',
      'https://garden.example/',
      'https://Garden.example',
      'https://garden.example:443',
      'https://a.example,',
      'null',
      'ftp://a.example',
    ],
  },
  fixedToken: {
    text: 'secret-with-16-characters',
    value: 'secret-with-16-characters',
    wrong: ['fifteen-letters', 'a space is in it', 'x'.repeat(513), 'umlaut-ä-in-it-ä', 'line\nline-line-li'],
  },
  oidcIssuer: {
    text: 'https://a.example/realms/garden',
    value: 'https://a.example/realms/garden',
    wrong: [
      'a.example',
      'http://a.example',
      'http://10.0.0.1',
      'http://127.0.0.1.example',
      'https://a.example/?x',
    ],
  },
  oidcAudience: { text: 'plants', value: 'plants', wrong: [''] },
  oidcScopeClaim: { text: 'realm_access.roles', value: 'realm_access.roles', wrong: [''] },
  oidcScopeMap: { text: 'plants:read=viewer', value: 'plants:read=viewer', wrong: [''] },
  bodyBytesMax: { text: '2048', value: 2048, wrong: ['1023', '67108865', '1MiB', ''] },
  headersTimeoutMs: { text: '500', value: 500, wrong: ['99', '3600001', '10s'] },
  requestTimeoutMs: { text: '500', value: 500, wrong: ['99', '3600001', 'never'] },
  keepAliveTimeoutMs: { text: '0', value: 0, wrong: ['-1', '3600001'] },
  exportTimeoutMs: { text: '5000', value: 5_000, wrong: ['99', '86400001'] },
  sendTimeoutMs: { text: '5000', value: 5_000, wrong: ['99', '3600001'] },
  connectionsMax: { text: '0', value: 0, wrong: ['-1', '1000001'] },
  connectionsPerAddressMax: { text: '100', value: 100, wrong: ['-1', '1000001'] },
  shutdownDelayMs: { text: '5000', value: 5_000, wrong: ['-1', '3600001'] },
  shutdownTimeoutMs: { text: '0', value: 0, wrong: ['-1', '3600001'] },
  queuedWritesMax: { text: '1', value: 1, wrong: ['0', '1000001'] },
  writeLagMaxMs: { text: '1', value: 1, wrong: ['0', '3600001', '1s'] },
  eventLoopLagMaxMs: { text: '1', value: 1, wrong: ['0', '3600001'] },
  rateLimit: { text: '100', value: 100, wrong: ['-1', '1000001', '0.5', 'off'] },
  rateLimitPlantsRead: { text: '0', value: 0, wrong: ['-1', '1000001'] },
  rateLimitPlantsWrite: { text: '1', value: 1, wrong: ['-1', '1000001'] },
  rateLimitTokensManage: { text: '1', value: 1, wrong: ['-1', '1000001'] },
  failedAuthenticationsMax: { text: '0', value: 0, wrong: ['-1', '1000001', 'none'] },
  trustedProxies: {
    text: 'loopback, 10.1.0.0/16,2001:db8::1',
    value: 'loopback, 10.1.0.0/16,2001:db8::1',
    wrong: ['proxy.example', '10.0.0.0/0', '10.0.0.1,', '::/129'],
  },
  idempotencyTtlMs: { text: '1000', value: 1000, wrong: ['999', '31536000001'] },
  slowRequestMs: { text: '0', value: 0, wrong: ['-1', '3600001'] },
  migrate: { text: 'false', value: false, wrong: ['no', 'off', 'FALSE'] },
  postgresConnections: { text: '1', value: 1, wrong: ['0', '1001'] },
  postgresConnectTimeoutMs: { text: '100', value: 100, wrong: ['99', '3600001', '5s'] },
  postgresStatementTimeoutMs: { text: '100', value: 100, wrong: ['99', '3600001'] },
  postgresPrepare: { text: 'false', value: false, wrong: ['off', '0'] },
  backupDir: { text: '/var/backups/plants', value: '/var/backups/plants', wrong: [''] },
  backupIntervalMs: { text: '1000', value: 1000, wrong: ['999', '604800001', '1d'] },
  backupsKept: { text: '1', value: 1, wrong: ['0', '10001'] },
  logLevel: { text: 'debug', value: 'debug', wrong: ['DEBUG', 'verbose', 'constructor'] },
  metrics: { text: 'false', value: false, wrong: ['off', '0', 'FALSE'] },
  checkOnStart: { text: 'true', value: true, wrong: ['yes', '1', 'TRUE'] },
}

function problemOf(read: () => unknown): string {
  try {
    read()
  } catch (error) {
    assert.ok(error instanceof SetupError, String(error))
    return error.message
  }
  assert.fail('It was accepted')
}

test('without flags and environment the defaults apply, and settings without a default are absent', () => {
  const config = readConfig({}, {})
  for (const name of NAMES) {
    const setting = SETTINGS[name]
    assert.equal(config[name], 'default' in setting ? setting.default : undefined, name)
  }
  assert.equal(config.host, '127.0.0.1')
  assert.equal(config.port, 8080)
  assert.equal(config.database, 'data/plantstore.db')
  assert.equal(config.bodyBytesMax, 1024 * 1024)
  assert.ok(Object.isFrozen(config))
})

test('every default is valid', () => {
  for (const name of NAMES) {
    const setting = SETTINGS[name]
    if ('default' in setting) {
      assert.equal(readConfig({}, { [variableOf(name)]: String(setting.default) })[name], setting.default)
    }
  }
})

for (const name of NAMES) {
  const { text, value, wrong } = CASES[name]
  const variable = variableOf(name)
  const flag = flagOf(name)

  test(`${variable} and ${flag} set ${name}, the flag before the variable`, () => {
    assert.deepEqual(readConfig({}, { [variable]: text })[name], value)
    assert.deepEqual(readConfig({ [name]: text }, {})[name], value)
    assert.deepEqual(readConfig({ [name]: text }, { [variable]: wrong[0] ?? 'other' })[name], value)
  })

  test(`an invalid value of ${name} is rejected with its source`, () => {
    for (const bad of wrong) {
      if (bad !== '') {
        const problem = problemOf(() => readConfig({}, { [variable]: bad }))
        assert.ok(problem.startsWith(`${variable} must be `), problem)
      }
      const problem = problemOf(() => readConfig({ [name]: bad }, {}))
      assert.ok(problem.startsWith(`${flag} must be `), problem)
      assert.ok(!problem.includes('\n'), problem)
    }
  })
}

test('names are as people expect them', () => {
  assert.equal(variableOf('queuedWritesMax'), 'PLANTSTORE_QUEUED_WRITES_MAX')
  assert.equal(flagOf('queuedWritesMax'), '--queued-writes-max')
  assert.equal(variableOf('host'), 'PLANTSTORE_HOST')
})

test('an empty variable counts as none', () => {
  assert.equal(readConfig({}, { PLANTSTORE_PORT: '', PLANTSTORE_BASE_URL: '' }).port, 8080)
})

test('a boolean flag without a value means true', () => {
  assert.equal(readConfig({ checkOnStart: true }, {}).checkOnStart, true)
})

test('an unknown variable with our prefix is rejected: it is a typo', () => {
  const typos: Environment = { PLANTSTORE_PROT: '80' }
  assert.match(
    problemOf(() => readConfig({}, typos)),
    /^There is no setting PLANTSTORE_PROT\. Did you mean PLANTSTORE_PORT\? "plantstore serve --help" lists all settings\./,
  )
  assert.match(
    problemOf(() => readConfig({}, { PLANTSTORE_FERN: '80' })),
    /^There is no setting PLANTSTORE_FERN\. "plantstore serve --help" lists/,
  )
  assert.equal(readConfig({}, { PATH: '/bin', PLANTSTOREX: 'a' }).port, 8080)
})

test('a rejected secret is not repeated, nor is a URL, which may contain a password', () => {
  const cases: [SettingName, string][] = CASES.fixedToken.wrong.map((bad) => ['fixedToken', bad])
  cases.push(['baseUrl', 'https://user:password@a.example'])
  for (const [name, bad] of cases) {
    for (const problem of [
      problemOf(() => readConfig({}, { [variableOf(name)]: bad })),
      problemOf(() => readConfig({ [name]: bad }, {})),
    ]) {
      assert.ok(!problem.includes(bad.slice(0, 8)), problem)
    }
  }
})

test('a rejected value stays on one line', () => {
  const problem = problemOf(() => readConfig({}, { PLANTSTORE_PORT: '80\n90' }))
  assert.ok(!problem.includes('\n'), problem)
})

test('the commands that call a service read its URL and the token, the flag before the variable', () => {
  assert.deepEqual(readClientConfig({}, {}), { url: 'http://127.0.0.1:8080', token: undefined })
  const environment = {
    PLANTSTORE_URL: 'https://a.example/garden/',
    PLANTSTORE_TOKEN: 'from-the-environment',
  }
  assert.deepEqual(readClientConfig({}, environment), {
    url: 'https://a.example/garden/',
    token: 'from-the-environment',
  })
  const flags = { url: 'http://[::1]:9000', token: 'from-the-command-line' }
  assert.deepEqual(readClientConfig(flags, environment), flags)
  assert.ok(Object.isFrozen(readClientConfig({}, environment)))
})

test('they reject an invalid URL or token without repeating it, and ignore the settings of the service', () => {
  const bad = 'https://user:password@a.example'
  for (const problem of [
    problemOf(() => readClientConfig({ url: bad }, {})),
    problemOf(() => readClientConfig({ token: 'short' }, {})),
    problemOf(() => readClientConfig({}, { PLANTSTORE_URL: bad })),
  ]) {
    assert.match(problem, /^(?:--url|--token|PLANTSTORE_URL) must be /)
    assert.ok(!problem.includes('password') && !problem.includes('short'), problem)
  }
  assert.equal(readClientConfig({}, { PLANTSTORE_PORT: 'eighty' }).url, CLIENT_SETTINGS.url.default)
  assert.match(
    problemOf(() => readClientConfig({}, { PLANTSTORE_ULR: bad })),
    /^There is no setting PLANTSTORE_ULR\./,
  )
})

test('the service ignores the variable PLANTSTORE_URL of the commands, and has no flag for it', () => {
  assert.equal(readConfig({}, { PLANTSTORE_URL: 'not read here' }).port, 8080)
  assert.ok(!('url' in SETTINGS))
})
