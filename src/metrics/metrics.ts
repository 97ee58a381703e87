import { collectDefaultMetrics, Gauge, Registry } from 'prom-client'
import type { Storage } from '../storage/storage.ts'
import { type BackupTimes, registerBackupMetrics } from './backup-metrics.ts'
import { type ConnectionMetrics, createConnectionMetrics } from './connection-metrics.ts'
import { watchEventLoop } from './event-loop-metrics.ts'
import { createRequestMetrics, type RequestMetrics } from './request-metrics.ts'
import { registerStorageMetrics } from './storage-metrics.ts'

/**
 * Default metrics that are removed. Counting handles lists every connection, and their names end as those of counters;
 * `watchEventLoop` measures the lag better.
 */
const REMOVED_METRICS = /^nodejs_(?:active|eventloop_lag)_/
/** How often prom-client itself samples the lag: never, as nothing reads it. */
const NEVER_MS = 2 ** 31 - 1

export interface MetricsOptions {
  /** The version of the program. */
  version: string
  storage: Pick<Storage, 'engine' | 'activity'>
  /** Open connections of clients. */
  countConnections(): Promise<number>
  /** Scheduled backups, if there are any. */
  backups?: BackupTimes | undefined
}

/** The counts of one service since its start. */
export interface Metrics extends Omit<RequestMetrics, 'durationsText'>, ConnectionMetrics {
  /** The media type of `text`. */
  mediaType: string
  /** Every metric in Prometheus' text format 0.0.4. */
  text(): Promise<string>
  /** Stops the timers. */
  stop(): void
}

/** Creates the metrics. No name or label comes from a client, so the number of series is bounded. */
export function createMetrics({ version, storage, countConnections, backups }: MetricsOptions): Metrics {
  const registry = new Registry()
  const registers = [registry]
  // Process, memory and garbage collection, under the usual names of Node.js services.
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: NEVER_MS })
  for (const { name } of registry.getMetricsAsArray()) {
    if (REMOVED_METRICS.test(name)) registry.removeSingleMetric(name)
  }
  new Gauge({
    name: 'plantstore_build_info',
    help: 'Always 1; the labels name the versions and the database engine',
    labelNames: ['version', 'node', 'engine'],
    registers,
  }).set({ version, node: process.version, engine: storage.engine }, 1)
  registerStorageMetrics(registry, storage.activity)
  if (backups !== undefined) registerBackupMetrics(registry, backups)
  const { durationsText, ...requestMetrics } = createRequestMetrics(registry)
  return {
    ...requestMetrics,
    ...createConnectionMetrics(registry, countConnections),
    mediaType: registry.contentType,
    text: async () => `${await registry.metrics()}\n${durationsText()}`,
    stop: watchEventLoop(registry),
  }
}
