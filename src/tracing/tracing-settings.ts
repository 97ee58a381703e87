import type { Environment } from '../config.ts'
import { SetupError } from '../errors.ts'

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

/**
 * How requests are traced; undefined unless the standard variables name a collector (OpenTelemetry, "Environment Variable
 * Specification"). Throws a SetupError that names the variable and what it may be.
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
  if (exporter !== 'otlp') throw new SetupError('OTEL_TRACES_EXPORTER must be otlp or none.')
  if (!/^https?:$/.test(URL.parse(endpoint)?.protocol ?? '')) {
    throw new SetupError(`${endpointVariable} must be an http or https URL.`)
  }
  const protocolVariable = exporterVariable('PROTOCOL')
  const protocol = read(protocolVariable)
  if (protocol !== undefined && protocol !== 'http/protobuf') {
    throw new SetupError(`${protocolVariable} must be http/protobuf.`)
  }
  const name = read('OTEL_TRACES_SAMPLER')
  const sampler = SAMPLER_NAMES.find((known) => known === name)
  if (name !== undefined && sampler === undefined) {
    throw new SetupError(`OTEL_TRACES_SAMPLER must be one of ${SAMPLER_NAMES.join(', ')}.`)
  }
  const number = (variable: string, byDefault: number, maximum: number): number => {
    const text = read(variable)
    const value = text === undefined ? byDefault : Number(text)
    if (value >= 0 && value <= maximum) return value
    throw new SetupError(`${variable} must be a number from 0 to ${maximum}.`)
  }
  return {
    sampler,
    ratio: number('OTEL_TRACES_SAMPLER_ARG', 1, 1),
    scheduledDelayMillis: number('OTEL_BSP_SCHEDULE_DELAY', 5_000, 3_600_000),
    exportTimeoutMillis: number('OTEL_BSP_EXPORT_TIMEOUT', 30_000, 3_600_000),
    maxQueueSize: number('OTEL_BSP_MAX_QUEUE_SIZE', 2_048, 1_000_000),
    maxExportBatchSize: number('OTEL_BSP_MAX_EXPORT_BATCH_SIZE', 512, 1_000_000),
  }
}
