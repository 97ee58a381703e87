import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readConfig } from '../../src/config/read-config.ts'
import { SetupError } from '../../src/errors.ts'

test('what Kubernetes and Docker set for a service called plantstore is no setting', () => {
  const linked = {
    PLANTSTORE_SERVICE_HOST: '10.0.0.7',
    PLANTSTORE_SERVICE_PORT: '8080',
    PLANTSTORE_SERVICE_PORT_HTTP: '8080',
    PLANTSTORE_PORT: 'tcp://10.0.0.7:8080',
    PLANTSTORE_PORT_8080_TCP: 'tcp://10.0.0.7:8080',
    PLANTSTORE_PORT_8080_TCP_PROTO: 'tcp',
    PLANTSTORE_PORT_8080_TCP_PORT: '8080',
    PLANTSTORE_PORT_8080_TCP_ADDR: '10.0.0.7',
    PLANTSTORE_PORT_8080_TCP_START: 'tcp://10.0.0.7:8080',
    PLANTSTORE_PORT_8080_TCP_PORT_START: '8080',
    PLANTSTORE_PORT_8080_TCP_END: 'tcp://10.0.0.7:8089',
    PLANTSTORE_PORT_8080_TCP_PORT_END: '8089',
    PLANTSTORE_NAME: '/web/plantstore',
    PLANTSTORE_ENV_NODE_VERSION: '26',
    PLANTSTORE_1_ENV_PATH: '/usr/bin:/bin',
    PLANTSTORE_1_NAME: '/web_1/plantstore_1',
    // Of a second service, `plantstore-database`.
    PLANTSTORE_DATABASE_SERVICE_HOST: '10.0.0.8',
    PLANTSTORE_DATABASE_PORT: 'tcp://10.0.0.8:5432',
  }
  assert.equal(readConfig({}, linked).port, 8080)
  assert.equal(readConfig({ port: '9090' }, linked).port, 9090)
})

test('a name that only resembles those of Kubernetes and Docker is rejected', () => {
  for (const [name, value] of [
    ['PLANTSTORE_PORT', '8080/tcp'],
    ['PLANTSTORE_DATABASE_PORT', '5432'],
    ['PLANTSTORE_SERVICE', 'plants'],
    ['PLANTSTORE_NAME', 'plants'],
    ['PLANTSTORE_PORT_START', '8080'],
    ['PLANTSTORE_ENV', 'production'],
  ] as const) {
    assert.throws(() => readConfig({}, { [name]: value }), SetupError, name)
  }
})
