import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { after, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { parse } from 'yaml'
import { eventually } from '../support/eventually.ts'
import { startAlteredApp } from '../support/http/start-altered-app.ts'
import { type Metrics, metricsOf, sumOf } from '../support/metrics-text.ts'
import { type Matcher, readPromQl } from './promql.ts'

const fileOf = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url))
const ALERTS_FILE = fileOf('ops/prometheus-alerts.yml')
/** Of Debian's package prometheus, say; `TEST_PROMTOOL` names another one. */
const PROMTOOL = process.env.TEST_PROMTOOL ?? 'promtool'
const promtoolMissing =
  spawnSync(PROMTOOL, ['--version']).status === 0 || process.env.CI
    ? undefined
    : `there is no ${PROMTOOL} to check with`

interface Rule {
  alert: string
  expr: string
  for: string
  labels: { severity: string }
  annotations: { summary: string; action: string }
}
interface Panel {
  id: number
  title: string
  gridPos: { x: number; y: number; w: number; h: number }
  targets: { refId: string; expr: string }[]
}
interface Dashboard {
  panels: Panel[]
  templating: { list: { name: string; definition?: string }[] }
}

const { groups } = parse(readFileSync(ALERTS_FILE, 'utf8')) as { groups: { rules: Rule[] }[] }
const rules = groups.flatMap((group) => group.rules)
const dashboard = JSON.parse(readFileSync(fileOf('ops/grafana-dashboard.json'), 'utf8')) as Dashboard

/** Labels that Prometheus gives to everything that it scrapes, and the bound of a bucket. */
const LABELS_OF_PROMETHEUS = ['job', 'instance']
/** The only metric that Prometheus makes itself. */
const UP = 'up'

/** A service that has responded this and that, also with 5xx. */
const app = await startAlteredApp(
  { after },
  {
    backups: { intervalMs: 86_400_000, newestMs: () => Date.now() },
    storage: (real) => ({
      ...real,
      plants: {
        ...real.plants,
        get() {
          throw new Error('the disk is gone')
        },
      },
    }),
  },
)
await app.create()
assert.equal((await app.fetch('/plants/1')).status, 500)
await app.fetch('/nothing')
const metrics = await metricsWithAll()

/** Once requests are counted, which they are behind their responses, and garbage was collected. */
function metricsWithAll(): Promise<Metrics> {
  setFlagsFromString('--expose-gc')
  const collectGarbage = runInNewContext('gc') as () => void
  return eventually(async () => {
    collectGarbage()
    const now = await metricsOf(app)
    const isComplete =
      sumOf(now, 'nodejs_gc_duration_seconds_count') > 0 && sumOf(now, 'plantstore_http_requests_total') > 3
    return isComplete && now
  })
}

function assertKnown(expression: string): void {
  const { selectors, grouping } = readPromQl(expression)
  const labels = new Set<string>()
  for (const { metric, matchers } of selectors) {
    if (metric === UP) continue
    const samples = [...metrics.values()].flatMap((family) =>
      family.samples.filter(({ name }) => name === metric),
    )
    assert.ok(samples.length > 0, `/metrics has no ${metric}: ${expression}`)
    for (const name of samples.flatMap((sample) => Object.keys(sample.labels))) labels.add(name)
    for (const matcher of matchers) {
      if (LABELS_OF_PROMETHEUS.includes(matcher.label)) continue
      assert.ok(labels.has(matcher.label), `${metric} has no label ${matcher.label}: ${expression}`)
      const isMet = samples.some((sample) => isMatch(matcher, sample.labels[matcher.label] ?? ''))
      assert.ok(isMet, `No ${metric} has ${matcher.label}${matcher.operator}${matcher.value}`)
    }
  }
  for (const label of grouping) {
    assert.ok(
      labels.has(label) || LABELS_OF_PROMETHEUS.includes(label),
      `Nothing has ${label}: ${expression}`,
    )
  }
}

function isMatch({ operator, value }: Matcher, text: string): boolean {
  const isEqual = operator.endsWith('~') ? new RegExp(`^(?:${value})$`).test(text) : text === value
  return operator.startsWith('!') ? !isEqual : isEqual
}

test('unknown metrics, labels and values are found', () => {
  assert.throws(() => assertKnown('sum(rate(plantstore_typo_total[5m]))'), /has no plantstore_typo_total/)
  assert.throws(() => assertKnown('plantstore_rejections_total{code="1"}'), /no label code/)
  assert.throws(() => assertKnown('plantstore_rejections_total{error="1"}'), /has error=1/)
  assert.throws(() => assertKnown('sum by (routes) (plantstore_rejections_total)'), /Nothing has routes/)
  assert.throws(() => assertKnown('sum(rate(plantstore_rejections_total[5m])'), /No PromQL/)
})

test('every alert uses existing metrics and has an action', () => {
  assert.ok(rules.length >= 6)
  for (const { alert, expr, for: lasting, labels, annotations } of rules) {
    assert.match(alert, /^Plantstore[A-Z]\w+$/)
    assertKnown(expr)
    assert.match(lasting, /^\d+m$/)
    assert.match(labels.severity, /^(?:critical|warning)$/)
    assert.ok(annotations.summary.length > 20 && annotations.action.length > 50, alert)
    for (const [name] of annotations.action.matchAll(/plantstore_\w+|process_\w+/g)) {
      const exists = [...metrics].some(
        ([family, { samples }]) => name === family || samples.some((one) => one.name === name),
      )
      assert.ok(exists, `${alert} names ${name}`)
    }
  }
  assert.equal(new Set(rules.map(({ alert }) => alert)).size, rules.length)
})

test('the table of docs/metrics.md has every metric of the service, with its labels, and no other', () => {
  const page = readFileSync(fileOf('docs/metrics.md'), 'utf8')
  const named = [...page.matchAll(/`(plantstore_[a-z_]+)(?:\{([a-z_, ]+)\})?`/g)].map(
    ([, name = '', labels = '']) => [name, labels.split(', ').sort().join()] as const,
  )
  const reported = [...metrics]
    .filter(([name]) => name.startsWith('plantstore_'))
    .map(([name, { samples }]) => {
      const labels = new Set(samples.flatMap((sample) => Object.keys(sample.labels)))
      labels.delete('le')
      return [name, [...labels].sort().join()] as const
    })
  assert.deepEqual(Object.fromEntries(named), Object.fromEntries(reported))
})

test('every panel of the dashboard uses existing metrics', () => {
  assert.ok(dashboard.panels.length > 10)
  for (const { targets } of dashboard.panels) {
    assert.ok(targets.length > 0)
    for (const { expr } of targets) assertKnown(expr.replaceAll('$__rate_interval', '5m'))
  }
  const definitions = dashboard.templating.list.flatMap(({ definition }) => definition ?? [])
  assert.equal(definitions.length, 2)
  for (const definition of definitions) {
    assertKnown(definition.replace(/^label_values\((.*), \w+\)$/, '$1'))
  }
})

test('panels do not overlap, and use existing variables only', () => {
  const taken = new Set<string>()
  for (const { title, gridPos } of dashboard.panels) {
    for (let x = gridPos.x; x < gridPos.x + gridPos.w; x++) {
      for (let y = gridPos.y; y < gridPos.y + gridPos.h; y++) {
        assert.ok(x < 24 && !taken.has(`${x} ${y}`), title)
        taken.add(`${x} ${y}`)
      }
    }
  }
  assert.equal(new Set(dashboard.panels.map(({ id }) => id)).size, dashboard.panels.length)
  const known = ['__rate_interval', '__all', ...dashboard.templating.list.map(({ name }) => name)]
  for (const [, name = ''] of JSON.stringify(dashboard).matchAll(/\$\{?(\w+)/g)) {
    assert.ok(known.includes(name), name)
  }
})

describe('promtool', { skip: promtoolMissing }, () => {
  function assertPasses(words: string[], input = ''): void {
    const { status, stdout, stderr } = spawnSync(PROMTOOL, words, { encoding: 'utf8', input })
    assert.equal(status, 0, stdout + stderr)
  }

  test('accepts the metrics and their names', async () => {
    assertPasses(['check', 'metrics'], await (await app.fetch('/metrics')).text())
  })

  test('accepts the alerts, and each fires in its cases only', () => {
    assertPasses(['check', 'rules', ALERTS_FILE])
    assertPasses(['test', 'rules', fileOf('test/ops/alert-cases.yml')])
  })
})
