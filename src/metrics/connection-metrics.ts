import { Counter, Gauge, type Registry } from 'prom-client'
import type { DropReason } from '../http/connections/dropped-connections.ts'

/** Reasons of dropped connections, short enough for the label of a metric. */
const DROP_REASONS: Readonly<Record<DropReason, string>> = {
  connections: 'too many connections',
  'connections-of-address': 'too many connections of an address',
  unread: 'response not read',
  unsent: 'too many unsent bytes',
}

export interface ConnectionMetrics {
  /** Counts a dropped connection. */
  recordDrop(reason: DropReason): void
}

/** Registers the counts of client connections. */
export function createConnectionMetrics(
  registry: Registry,
  countConnections: () => Promise<number>,
): ConnectionMetrics {
  const registers = [registry]
  new Gauge({
    name: 'plantstore_http_connections',
    help: 'Open connections of clients',
    registers,
    async collect() {
      this.set(await countConnections())
    },
  })
  const dropped = new Counter({
    name: 'plantstore_dropped_connections_total',
    help: 'Connections that were dropped: too many, or the client did not read',
    labelNames: ['reason'],
    registers,
  })
  // Every series starts at 0: Prometheus sees no increase in a series that appears with the value 1.
  for (const reason of Object.values(DROP_REASONS)) dropped.inc({ reason }, 0)
  return {
    recordDrop(reason) {
      dropped.inc({ reason: DROP_REASONS[reason] })
    },
  }
}
