import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { test } from 'node:test'
import { readClientConfig, readConfig } from '../../src/config/read-config.ts'
import { SettingError } from '../../src/errors.ts'
import { generateToken } from '../../src/tokens/token.ts'
import { runPlantstore } from '../support/process/plantstore-process.ts'

function linesOf(read: () => unknown): string[] {
  try {
    read()
  } catch (error) {
    assert.ok(error instanceof SettingError)
    return error.message.split('\n')
  }
  assert.fail('It was accepted')
}

test('of a list only the invalid member is repeated', () => {
  assert.throws(
    () => readConfig({}, { PLANTSTORE_CORS_ORIGINS: 'https://a.example, https://b.example/' }),
    /^SettingError: PLANTSTORE_CORS_ORIGINS must be origins such as .*, not "https:\/\/b\.example\/"\.$/,
  )
  assert.throws(
    () => readConfig({}, { PLANTSTORE_TRUSTED_PROXIES: '10.0.0.1, loopback,10.0.0/8' }),
    /^SettingError: PLANTSTORE_TRUSTED_PROXIES must be addresses, ranges .*, not "10\.0\.0\/8"\.$/,
  )
})

test('a path that a file of variables or a shell has left unfinished is rejected', () => {
  for (const path of ['p.db\r', '~/p.db', '~plants/p.db', '"p.db"', "'p.db'", ' p.db', 'p\u0000.db']) {
    for (const name of ['DATABASE', 'BACKUP_DIR', 'TLS_CERT', 'TLS_KEY', 'SOCKET']) {
      const variable = `PLANTSTORE_${name}`
      assert.deepEqual(
        linesOf(() => readConfig({}, { [variable]: path })).map((line) => line.split(' ')[0]),
        [variable],
      )
    }
  }
})

test('a path of a file does not end as one of a folder', () => {
  for (const name of ['DATABASE', 'TLS_CERT', 'TLS_KEY', 'SOCKET']) {
    const variable = `PLANTSTORE_${name}`
    for (const path of ['z/', '/', 'z/.', '../..', 'a\r\nb.db']) {
      assert.deepEqual(
        linesOf(() => readConfig({}, { [variable]: path })).map((line) => line.split(' ')[0]),
        [variable],
      )
    }
  }
  assert.equal(readConfig({ backupDir: 'backups/' }, {}).backupDir, 'backups/')
  for (const database of ['.z', 'z/..db', 'a\nb.db', 'postgres://plants@db/']) {
    assert.equal(readConfig({ database }, {}).database, database)
  }
})

test('all invalid settings are reported at once, in a line each', () => {
  const environment = {
    PLANTSTORE_PORT: 'http',
    PLANTSTORE_PROT: '80',
    PLANTSTORE_LOG_LEVEL: 'loud',
    PLANTSTORE_BODY_BYTES_MAX: '2048',
    OTEL_EXPORTER_OTLP_ENDPOINT: 'collector',
    OTEL_TRACES_SAMPLER_ARG: '2',
  }
  const lines = linesOf(() => readConfig({ rateLimit: 'off', host: '' }, environment))
  assert.deepEqual(lines.map((line) => /^(?:There is no setting )?(\S+?)\.? /.exec(line)?.[1]).sort(), [
    '--host',
    '--rate-limit',
    'OTEL_EXPORTER_OTLP_ENDPOINT',
    'OTEL_TRACES_SAMPLER_ARG',
    'PLANTSTORE_LOG_LEVEL',
    'PLANTSTORE_PORT',
    'PLANTSTORE_PROT',
  ])
  const client = linesOf(() => readClientConfig({ url: 'garden' }, { PLANTSTORE_TOKEN: 'short' }))
  assert.deepEqual(
    client.map((line) => line.split(' ')[0]),
    ['--url', 'PLANTSTORE_TOKEN'],
  )
})

test('inconsistent settings are reported at once as well, and the exit code is 2', async (t) => {
  const environment = {
    PLANTSTORE_TLS_CERT: 'cert.pem',
    PLANTSTORE_OIDC_ISSUER: 'https://a.example',
    PLANTSTORE_OIDC_SCOPE_MAP: 'plants:wirte=editor',
    PLANTSTORE_FIXED_TOKEN: generateToken(),
    PLANTSTORE_BACKUP_DIR: 'backups',
    PLANTSTORE_DATABASE: 'postgres://a.example:0/plants',
  }
  const { code, stderr, folder } = await runPlantstore(t, ['serve'], { environment })
  assert.equal(code, 2)
  const lines = stderr.trimEnd().split('\n')
  assert.ok(lines.every((line) => line.startsWith('plantstore: ')))
  const named = lines.map((line) => /PLANTSTORE_\w+|database/.exec(line)?.[0])
  assert.deepEqual(named.sort(), [
    'PLANTSTORE_BACKUP_DIR',
    'PLANTSTORE_FIXED_TOKEN',
    'PLANTSTORE_OIDC_ISSUER',
    'PLANTSTORE_OIDC_SCOPE_MAP',
    'PLANTSTORE_TLS_CERT',
    'database',
  ])
  assert.deepEqual(readdirSync(folder), [])
})
