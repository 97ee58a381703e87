import { Counter, Gauge, type Registry } from 'prom-client'
import type { DropReason } from '../http/connections/dropped-connections.ts'

/** Why connections are cut off, in words that are short enough for the label of a metric. */
const CUT_REASONS_IN_WORDS: Readonly<Record<DropReason, string>> = {
  connections: 'too many connections',
  'connections-of-address': 'too many connections of an address',
  unread: 'answer not read',
  unsent: 'too much unsent in all',
}

export interface ConnectionMetrics {
  /** Counts a connection that is cut off. */
  recordDrop(reason: DropReason): void
}

/** Connections of clients, in `registry`. */
export function createConnectionMetrics(
  registry: Registry,
  countConnections: () => Promise<number>,
): ConnectionMetrics {
  const registers = [registry]
  new Gauge({
    name: 'plantstore_http_connections',
    help: 'Connections of clients that are open',
    registers,
    async collect() {
      this.set(await countConnections())
    },
  })
  const cut = new Counter({
    name: 'plantstore_cut_connections_total',
    help: 'Connections that were cut off because they were too many, or did not read what was sent',
    labelNames: ['reason'],
    registers,
  })
  // All of them from the start: the first step of a counter that comes out of nothing is no increase to Prometheus.
  for (const reason of Object.values(CUT_REASONS_IN_WORDS)) cut.inc({ reason }, 0)
  return {
    recordDrop(reason) {
      cut.inc({ reason: CUT_REASONS_IN_WORDS[reason] })
    },
  }
}
