import type { Environment } from './setting.ts'
import { createSettingProblems } from './setting-problems.ts'

/** What of the standard variables of OpenTelemetry is not read by its exporter. */
export interface TracingSettings {
  /** Undefined where none is named: then the service chooses. */
  sampler: SamplerName | undefined
  /** The share of traces that a sampler by ratio keeps, from 0 to 1. */
  ratio: number
  scheduledDelayMillis: number
  exportTimeoutMillis: number
  maxQueueSize: number
  maxExportBatchSize: number
}

const SAMPLER_NAMES = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const

export type SamplerName = (typeof SAMPLER_NAMES)[number]

interface NumberRule {
  kind: 'number' | 'whole number'
  minimum: number
  maximum: number
}

const RATIO: NumberRule = { kind: 'number', minimum: 0, maximum: 1 }
/** In milliseconds: an hour is longer than anybody waits for a span. */
const DELAY: NumberRule = { kind: 'whole number', minimum: 0, maximum: 3_600_000 }
/** With 0 no batch would ever arrive. */
const EXPORT_TIMEOUT: NumberRule = { ...DELAY, minimum: 1 }
/** With batches of less than a span the exporter would send empty ones without end. */
const SPANS: NumberRule = { kind: 'whole number', minimum: 1, maximum: 1_000_000 }

/**
 * How requests are traced; undefined unless the standard variables name a collector (OpenTelemetry, "Environment
 * Variable Specification"). Throws a SettingError with a line for each variable that is wrong, which names it and
 * what it may be.
 */
export function readTracing(environment: Environment): TracingSettings | undefined {
  const read = (name: string) => (environment[name] === '' ? undefined : environment[name])
  // The variable for traces alone goes before the one for all signals.
  const exporterVariable = (name: string) =>
    [`OTEL_EXPORTER_OTLP_TRACES_${name}`, `OTEL_EXPORTER_OTLP_${name}`].find(
      (variable) => read(variable) !== undefined,
    ) ?? ''
  const endpointVariable = exporterVariable('ENDPOINT')
  const endpoint = read(endpointVariable)
  const exporter = read('OTEL_TRACES_EXPORTER') ?? 'otlp'
  if (endpoint === undefined || exporter === 'none') return undefined
  if (read('OTEL_SDK_DISABLED')?.toLowerCase() === 'true') return undefined
  const wrong = createSettingProblems()
  if (exporter !== 'otlp') wrong.add('OTEL_TRACES_EXPORTER must be otlp or none.')
  if (!/^https?:$/.test(URL.parse(endpoint)?.protocol ?? '')) {
    wrong.add(`${endpointVariable} must be an http or https URL.`)
  }
  const protocolVariable = exporterVariable('PROTOCOL')
  const protocol = read(protocolVariable)
  if (protocol !== undefined && protocol !== 'http/protobuf') {
    wrong.add(`${protocolVariable} must be http/protobuf.`)
  }
  const name = read('OTEL_TRACES_SAMPLER')
  const sampler = SAMPLER_NAMES.find((known) => known === name)
  if (name !== undefined && sampler === undefined) {
    wrong.add(`OTEL_TRACES_SAMPLER must be one of ${SAMPLER_NAMES.join(', ')}.`)
  }
  const numberOf = (variable: string, byDefault: number, { kind, minimum, maximum }: NumberRule): number => {
    const text = read(variable)
    const value = text === undefined ? byDefault : Number(text)
    if (value >= minimum && value <= maximum && (kind === 'number' || Number.isInteger(value))) return value
    wrong.add(`${variable} must be a ${kind} from ${minimum} to ${maximum}.`)
    return byDefault
  }
  const settings = {
    sampler,
    ratio: numberOf('OTEL_TRACES_SAMPLER_ARG', 1, RATIO),
    scheduledDelayMillis: numberOf('OTEL_BSP_SCHEDULE_DELAY', 5_000, DELAY),
    exportTimeoutMillis: numberOf('OTEL_BSP_EXPORT_TIMEOUT', 30_000, EXPORT_TIMEOUT),
    maxQueueSize: numberOf('OTEL_BSP_MAX_QUEUE_SIZE', 2_048, SPANS),
    maxExportBatchSize: numberOf('OTEL_BSP_MAX_EXPORT_BATCH_SIZE', 512, SPANS),
  }
  wrong.refuse()
  return settings
}
