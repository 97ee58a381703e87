import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readConfig } from '../src/config.ts'

test('of a list what is wrong is repeated, and not all of it', () => {
  assert.throws(
    () => readConfig({}, { PLANTSTORE_CORS_ORIGINS: 'https://a.example, https://b.example/' }),
    /^SettingError: PLANTSTORE_CORS_ORIGINS must be origins such as .*, not "https:\/\/b\.example\/"\.$/,
  )
  assert.throws(
    () => readConfig({}, { PLANTSTORE_TRUSTED_PROXIES: '10.0.0.1, loopback,10.0.0/8' }),
    /^SettingError: PLANTSTORE_TRUSTED_PROXIES must be addresses or ranges .*, not "10\.0\.0\/8"\.$/,
  )
})
