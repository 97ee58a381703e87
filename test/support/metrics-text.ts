import assert from 'node:assert/strict'
import { type StartedApp, TOKEN } from './http/start-app.ts'

export interface Sample {
  name: string
  labels: Record<string, string>
  value: number
}

export interface MetricFamily {
  type: string
  samples: Sample[]
}

/** Metrics by the name of their family. */
export type Metrics = ReadonlyMap<string, MetricFamily>

const HELP = /^# HELP (\S+) (\S.*)$/
const TYPE = /^# TYPE (\S+) (counter|gauge|histogram)$/
const SAMPLE = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (-?\d\S*|[+-]Inf|NaN)$/
/** With what is escaped in a value: backslash, quotation mark, line feed. */
const LABEL = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"(?:,|$)/y

/** Reads the text format 0.0.4 and holds it to its rules; a family's HELP and TYPE come before its samples, once. */
export function parseMetrics(text: string): Metrics {
  const families = new Map<string, MetricFamily>()
  const series = new Set<string>()
  let name = ''
  assert.ok(text.endsWith('\n'))
  for (const line of text.split('\n')) {
    if (line === '') continue
    const [, helpOf] = HELP.exec(line) ?? []
    const [, typeOf, type] = TYPE.exec(line) ?? []
    if (helpOf !== undefined) {
      assert.ok(!families.has(helpOf), `${helpOf} comes twice`)
      name = helpOf
      families.set(name, { type: '', samples: [] })
    } else if (typeOf !== undefined && type !== undefined) {
      assert.equal(typeOf, name)
      families.set(name, { type, samples: [] })
    } else {
      const sample = parseSample(line)
      const family = families.get(name)
      assert.ok(family !== undefined && isOf(sample.name, name, family.type), line)
      const key = line.slice(0, line.lastIndexOf(' '))
      assert.ok(!series.has(key), `${key} comes twice`)
      series.add(key)
      family.samples.push(sample)
    }
  }
  for (const [family, { type, samples }] of families) checkFamily(family, type, samples)
  return families
}

function parseSample(line: string): Sample {
  const [, name = '', labelText = '', value = ''] = SAMPLE.exec(line) ?? []
  assert.ok(name !== '', `No sample: ${line}`)
  const labels: Record<string, string> = {}
  LABEL.lastIndex = 0
  while (LABEL.lastIndex < labelText.length) {
    const label = LABEL.exec(labelText)
    assert.ok(label !== null, `No labels: ${line}`)
    labels[label[1] ?? ''] = label[2] ?? ''
  }
  return { name, labels, value: value.endsWith('Inf') ? Number(`${value}inity`) : Number(value) }
}

function isOf(sample: string, family: string, type: string): boolean {
  if (type !== 'histogram') return sample === family
  return ['_bucket', '_sum', '_count'].some((suffix) => sample === family + suffix)
}

function checkFamily(name: string, type: string, samples: readonly Sample[]): void {
  assert.equal(name.endsWith('_total'), type === 'counter', name)
  if (type === 'counter') assert.ok(samples.every(({ value }) => value >= 0))
  if (type !== 'histogram') return
  const buckets = Map.groupBy(
    samples.filter((sample) => sample.name === `${name}_bucket`),
    ({ labels: { le: _, ...labels } }) => JSON.stringify(labels),
  )
  for (const [labels, those] of buckets) {
    const bounds = those.map((one) => Number(one.labels.le?.replace('Inf', 'Infinity')))
    assert.deepEqual(
      bounds,
      bounds.toSorted((a, b) => a - b),
      name,
    )
    const counts = those.map(({ value }) => value)
    assert.deepEqual(
      counts,
      counts.toSorted((a, b) => a - b),
      name,
    )
    assert.equal(bounds.at(-1), Number.POSITIVE_INFINITY)
    const count = samples.find((one) => one.name === `${name}_count` && JSON.stringify(one.labels) === labels)
    assert.equal(counts.at(-1), count?.value, name)
  }
}

/** What a service counted so far. */
export async function metricsOf(app: Pick<StartedApp, 'fetch'>): Promise<Metrics> {
  const response = await app.fetch('/metrics', { headers: { authorization: `Bearer ${TOKEN}` } })
  assert.equal(response.status, 200)
  return parseMetrics(await response.text())
}

/** The sum of the samples called `name` that have these labels; 0 where there is none. */
export function sumOf(metrics: Metrics, name: string, labels: Record<string, string> = {}): number {
  let sum = 0
  for (const { samples } of metrics.values()) {
    for (const sample of samples) {
      const isWanted = Object.entries(labels).every(([label, value]) => sample.labels[label] === value)
      if (sample.name === name && isWanted) sum += sample.value
    }
  }
  return sum
}
