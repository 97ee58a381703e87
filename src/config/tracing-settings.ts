import type { Environment } from './setting.ts'
import { createSettingProblems } from './setting-problems.ts'

/** The standard variables of OpenTelemetry that its exporter does not read. */
export interface TracingSettings {
  /** Undefined: the service's own choice. */
  sampler: SamplerName | undefined
  /** The share of traces that a ratio sampler records, from 0 to 1. */
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

type SamplerName = (typeof SAMPLER_NAMES)[number]

interface NumberRule {
  kind: 'number' | 'whole number'
  minimum: number
  maximum: number
}

const RATIO: NumberRule = { kind: 'number', minimum: 0, maximum: 1 }
/** In milliseconds. */
const DELAY: NumberRule = { kind: 'whole number', minimum: 0, maximum: 3_600_000 }
/** With 0 every export would time out. */
const EXPORT_TIMEOUT: NumberRule = { ...DELAY, minimum: 1 }
/** With batches of 0 spans the exporter would send empty ones without end. */
const SPANS: NumberRule = { kind: 'whole number', minimum: 1, maximum: 1_000_000 }

/**
 * How requests are traced; undefined unless the standard variables name a collector (OpenTelemetry, "Environment
 * Variable Specification"). Throws a SettingError with a line for each invalid variable.
 */
export function readTracing(environment: Environment): TracingSettings | undefined {
  const read = (name: string) => (environment[name] === '' ? undefined : environment[name])
  // The variable for traces has precedence over the one for all signals.
  const exporterVariable = (name: string) =>
    [`OTEL_EXPORTER_OTLP_TRACES_${name}`, `OTEL_EXPORTER_OTLP_${name}`].find(
      (variable) => read(variable) !== undefined,
    ) ?? ''
  const endpointVariable = exporterVariable('ENDPOINT')
  const endpoint = read(endpointVariable)
  const exporter = read('OTEL_TRACES_EXPORTER') ?? 'otlp'
  if (endpoint === undefined || exporter === 'none') return undefined
  if (read('OTEL_SDK_DISABLED')?.toLowerCase() === 'true') return undefined
  const problems = createSettingProblems()
  if (exporter !== 'otlp') problems.add('OTEL_TRACES_EXPORTER must be otlp or none.')
  if (!/^https?:$/.test(URL.parse(endpoint)?.protocol ?? '')) {
    problems.add(`${endpointVariable} must be an http or https URL.`)
  }
  const protocolVariable = exporterVariable('PROTOCOL')
  const protocol = read(protocolVariable)
  if (protocol !== undefined && protocol !== 'http/protobuf') {
    problems.add(`${protocolVariable} must be http/protobuf.`)
  }
  const name = read('OTEL_TRACES_SAMPLER')
  const sampler = SAMPLER_NAMES.find((known) => known === name)
  if (name !== undefined && sampler === undefined) {
    problems.add(`OTEL_TRACES_SAMPLER must be one of ${SAMPLER_NAMES.join(', ')}.`)
  }
  const numberOf = (variable: string, byDefault: number, { kind, minimum, maximum }: NumberRule): number => {
    const text = read(variable)
    const value = text === undefined ? byDefault : Number(text)
    if (value >= minimum && value <= maximum && (kind === 'number' || Number.isInteger(value))) return value
    problems.add(`${variable} must be a ${kind} from ${minimum} to ${maximum}.`)
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
  problems.throwIfAny()
  return settings
}
