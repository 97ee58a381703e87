import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseAllDocuments } from 'yaml'
import packageJson from '../../package.json' with { type: 'json' }
import { variableOf } from '../../src/config/read-config.ts'
import { SETTINGS } from '../../src/config/settings.ts'
import { startApp } from '../support/http/start-app.ts'
import { read } from '../support/source-imports.ts'

interface Probe {
  httpGet: { path: string; port: string }
}

interface Variable {
  name: string
  value?: string
  valueFrom?: { secretKeyRef: { name: string; key: string } }
}

interface Container {
  name: string
  image: string
  args?: string[]
  env: Variable[]
  ports?: { name: string; containerPort: number }[]
  startupProbe?: Probe
  livenessProbe?: Probe
  readinessProbe?: Probe
  resources: { requests: object; limits: object }
  securityContext: { readOnlyRootFilesystem: boolean; allowPrivilegeEscalation: boolean }
}

interface Pod {
  terminationGracePeriodSeconds: number
  securityContext: { runAsNonRoot: boolean; runAsUser: number }
  initContainers: [Container]
  containers: [Container]
}

interface Labels {
  [name: string]: string
}

const manifest = read('deploy/kubernetes.yaml')
const documents = parseAllDocuments(manifest).map((one) => {
  assert.deepEqual(one.errors, [])
  return one.toJS() as { kind: string; spec: object }
})
const specOf = (kind: string): unknown => documents.find((one) => one.kind === kind)?.spec

const deployment = specOf('Deployment') as {
  replicas: number
  selector: { matchLabels: Labels }
  template: { metadata: { labels: Labels }; spec: Pod }
}
const service = specOf('Service') as { selector: Labels; ports: [{ targetPort: string }] }
const budget = specOf('PodDisruptionBudget') as { minAvailable: number; selector: { matchLabels: Labels } }
const pod = deployment.template.spec
const [program] = pod.containers
const [migration] = pod.initContainers
const settingOf = (name: string) => program.env.find((variable) => variable.name === name)?.value

test('the replicas on Kubernetes are reached, and some of them stay during maintenance', () => {
  assert.deepEqual(documents.map(({ kind }) => kind).sort(), ['Deployment', 'PodDisruptionBudget', 'Service'])
  const { labels } = deployment.template.metadata
  for (const selector of [deployment.selector.matchLabels, service.selector, budget.selector.matchLabels])
    assert.deepEqual(selector, labels)
  assert.ok(budget.minAvailable >= 1 && budget.minAvailable < deployment.replicas)
  const [port] = program.ports ?? []
  assert.equal(port?.containerPort, SETTINGS.port.default)
  assert.equal(service.ports[0].targetPort, port?.name)
})

test('the probes of Kubernetes request paths of the service', async (t) => {
  const app = await startApp(t)
  const paths = [program.startupProbe, program.livenessProbe, program.readinessProbe].map((probe) => {
    assert.ok(probe)
    assert.equal(probe.httpGet.port, program.ports?.[0]?.name)
    return probe.httpGet.path
  })
  assert.deepEqual(paths, ['/healthz', '/healthz', '/readyz'])
  for (const path of paths) assert.equal((await fetch(app.url + path)).status, 200, path)
})

test('Kubernetes migrates the schema before a replica starts, and waits for running requests', () => {
  assert.deepEqual(migration.args, ['migrate'])
  assert.equal(settingOf('PLANTSTORE_MIGRATE'), 'false')
  const [delayMs, graceMs] = [
    Number(settingOf('PLANTSTORE_SHUTDOWN_DELAY_MS')),
    1000 * pod.terminationGracePeriodSeconds,
  ]
  assert.ok(delayMs > 0)
  assert.ok(graceMs > delayMs + SETTINGS.shutdownTimeoutMs.default)
})

test('the containers on Kubernetes are restricted, and their settings and secrets exist', () => {
  const variables = new Set(Object.keys(SETTINGS).map(variableOf))
  const [, secretCommand = ''] = /create secret generic (plantstore.*?)\n# +kubectl/s.exec(manifest) ?? []
  assert.equal(pod.securityContext.runAsNonRoot, true)
  assert.match(read('Dockerfile'), new RegExp(`^USER ${pod.securityContext.runAsUser}:`, 'm'))
  for (const container of [program, migration]) {
    assert.equal(container.image, `plantstore:${packageJson.version}`)
    assert.deepEqual(
      [container.securityContext.readOnlyRootFilesystem, container.securityContext.allowPrivilegeEscalation],
      [true, false],
    )
    assert.ok(container.resources.requests && container.resources.limits)
    for (const { name, value, valueFrom } of container.env) {
      assert.ok(variables.has(name), name)
      assert.notEqual(value === undefined, valueFrom === undefined, name)
      if (valueFrom !== undefined) {
        assert.equal(valueFrom.secretKeyRef.name, 'plantstore')
        assert.ok(secretCommand.includes(`--from-literal=${valueFrom.secretKeyRef.key}=`), name)
      }
    }
  }
})
