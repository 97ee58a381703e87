import { collectDefaultMetrics, Gauge, Registry } from 'prom-client'
import packageJson from '../../package.json' with { type: 'json' }
import type { Storage } from '../storage/storage.ts'
import { type BackupTimes, registerBackupMetrics } from './backup-metrics.ts'
import { type ConnectionMetrics, createConnectionMetrics } from './connection-metrics.ts'
import { watchEventLoop } from './event-loop-metrics.ts'
import { createRequestMetrics, type RequestMetrics } from './request-metrics.ts'
import { registerStorageMetrics } from './storage-metrics.ts'

/**
 * Of the default metrics: handles of every connection are listed to count them, under names that Prometheus keeps for
 * counters; and the lag of the event loop is told better (`watchEventLoop`).
 */
const LEFT_OUT = /^nodejs_(?:active|eventloop_lag)_/
/** What prom-client itself would measure the lag by: never, as nobody reads it. */
const NEVER_MS = 2 ** 31 - 1

export interface MetricsOptions {
  storage: Pick<Storage, 'engine' | 'activity'>
  /** Connections of clients that are open now. */
  countConnections(): Promise<number>
  /** Scheduled backups, if there are any. */
  backups?: BackupTimes | undefined
}

/** What one service counts of itself, from now on. */
export interface Metrics extends RequestMetrics, ConnectionMetrics {
  /** The media type of `text`. */
  mediaType: string
  /** Everything that was counted, as Prometheus reads it (text format 0.0.4). */
  text(): Promise<string>
  /** Ends what goes on by itself. */
  stop(): void
}

/** Begins to count. Names and labels are in no way made of what clients send, so there is an end of them. */
export function createMetrics({ storage, countConnections, backups }: MetricsOptions): Metrics {
  const registry = new Registry()
  const registers = [registry]
  // Process, memory and garbage collection, under the names that every Node.js service gives them.
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: NEVER_MS })
  for (const { name } of registry.getMetricsAsArray()) {
    if (LEFT_OUT.test(name)) registry.removeSingleMetric(name)
  }
  new Gauge({
    name: 'plantstore_build_info',
    help: 'Always 1; its labels say what runs',
    labelNames: ['version', 'node', 'engine'],
    registers,
  }).set({ version: packageJson.version, node: process.version, engine: storage.engine }, 1)
  registerStorageMetrics(registry, storage.activity)
  if (backups !== undefined) registerBackupMetrics(registry, backups)
  return {
    ...createRequestMetrics(registry),
    ...createConnectionMetrics(registry, countConnections),
    mediaType: registry.contentType,
    text: () => registry.metrics(),
    stop: watchEventLoop(registry),
  }
}
