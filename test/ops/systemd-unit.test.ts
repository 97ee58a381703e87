import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { EXIT_USAGE } from '../../src/cli/output/command-failure.ts'
import { variableOf } from '../../src/config/read-config.ts'
import { SETTINGS } from '../../src/config/settings.ts'
import { temporaryFolder } from '../support/http/start-app.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const INSTALLED = '/opt/plantstore'
/** More is what the program calls exposed; it gives 9.6 to a unit that protects nothing. */
const EXPOSURE_MAX = 20

const unit = readFileSync(join(ROOT, 'ops/plantstore.service'), 'utf8')
/** Every value of a setting of the unit, in order. */
const valuesOf = (name: string) =>
  [...unit.matchAll(new RegExp(`^${name}=(.*)$`, 'gm'))].map(([, value = '']) => value)

const ANALYZE = 'systemd-analyze'
/** The first version that can analyze a unit that is not installed. */
const VERSION_MIN = 250
const version = Number(/\d+/.exec(String(spawnSync(ANALYZE, ['--version']).stdout))?.[0] ?? 0)
const skip =
  version >= VERSION_MIN ? false : `the unit is not verified: there is no ${ANALYZE} of ${VERSION_MIN}`

/** The unit as it would be installed, with this clone in the place of where it is installed. */
function unitFile(test: Parameters<typeof temporaryFolder>[0]): string {
  const file = join(temporaryFolder(test), 'plantstore.service')
  const here = unit.replaceAll(INSTALLED, ROOT.replace(/\/$/, ''))
  writeFileSync(file, here.replace(/^(ExecStart=)\S+/m, `$1${process.execPath}`))
  return file
}

test('systemd accepts every line of the unit', { skip }, (context) => {
  const { status, stdout, stderr } = spawnSync(ANALYZE, ['verify', '--man=no', unitFile(context)])
  assert.equal(status, 0, String(stderr))
  assert.doesNotMatch(String(stdout) + String(stderr), /plantstore\.service/)
})

test('the security score of systemd for the unit is good', { skip }, (context) => {
  const parameters = ['security', '--offline=true', `--threshold=${EXPOSURE_MAX}`, unitFile(context)]
  const { status, stdout, stderr } = spawnSync(ANALYZE, parameters)
  assert.equal(status, 0, String(stdout) + String(stderr))
})

test('the unit starts the same command as the package, with existing settings', () => {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  const [, memory = '', command = ''] = /^(MALLOC_\S+) exec node (.*)$/.exec(scripts.start) ?? assert.fail()
  assert.deepEqual(valuesOf('ExecStart'), [`${INSTALLED}/node_modules/.bin/node ${command}`])
  const environment = valuesOf('Environment')
  assert.ok(environment.includes(memory))
  const known = new Set(Object.keys(SETTINGS).map(variableOf))
  const named = unit.match(/PLANTSTORE_[A-Z_]+/g) ?? []
  assert.ok(named.length > 0)
  for (const name of named) assert.ok(known.has(name), name)
  const [state = ''] = valuesOf('StateDirectory')
  assert.ok(environment.includes(`PLANTSTORE_DATABASE=/var/lib/${state}/plantstore.db`))
})

test('the unit restarts after any failure except an invalid setting, without a limit', () => {
  assert.deepEqual(valuesOf('Restart'), ['on-failure'])
  assert.deepEqual(valuesOf('RestartPreventExitStatus'), [String(EXIT_USAGE)])
  assert.deepEqual(valuesOf('StartLimitIntervalSec'), ['0'])
})

test('the unit waits for the notification of readiness, also from a child process', () => {
  assert.deepEqual(valuesOf('Type'), ['notify'])
  assert.deepEqual(valuesOf('NotifyAccess'), ['all'])
  assert.deepEqual(valuesOf('TimeoutStartSec'), ['infinity'])
})

test('the unit leaves enough time for a stop, reloads a certificate, and allows V8 to compile', () => {
  assert.ok(1000 * Number(valuesOf('TimeoutStopSec')[0]) > SETTINGS.shutdownTimeoutMs.default)
  assert.deepEqual(valuesOf('ExecReload'), ['/bin/kill -HUP $MAINPID'])
  assert.deepEqual(valuesOf('MemoryDenyWriteExecute'), ['no'])
})
