import type { FastifyReply, FastifyRequest } from 'fastify'
import { Counter, type Registry } from 'prom-client'
import { type ErrorCode, meaningOf, OVERLOAD_REASONS, type OverloadReason } from '../errors.ts'
import { KNOWN_METHODS } from '../http/request/known-methods.ts'
import { createHistogram, type HistogramSeries } from './histogram.ts'
import { OVERLOAD_CAUSES, REJECTION_REASONS } from './rejection-reasons.ts'

/**
 * In seconds. A create takes 1 to 10 ms, most reads less. The alert is at 250 ms, and a request is logged as slow from
 * 1 s on. The last bounds distinguish long imports and exports from requests that hang.
 */
const DURATION_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30]

/** The label of every unknown method. */
const OTHER_METHOD = 'other'

/** The route of paths that match none: their number is unbounded. */
const NO_ROUTE = 'none'
/** The route of bytes that are not a request. */
const UNREADABLE = 'unreadable'

export interface RequestMetrics {
  /** Counts a request that has ended; call it once for each. */
  record(request: FastifyRequest, reply: FastifyReply): void
  /** Counts the response to bytes that are not a request, or not a complete one. */
  recordUnreadable(code: ErrorCode): void
  /** The histogram of durations in Prometheus' text format. */
  durationsText(): string
}

/** The counts of one method of one route. */
interface RouteSeries {
  route: string
  method: string
  duration: HistogramSeries
  /** Requests by status since the last scrape: the counter hashes its labels, which every request would pay. */
  requests: Map<number, number>
}

/** Registers the counts of requests and rejections. */
export function createRequestMetrics(registry: Registry): RequestMetrics {
  const allSeries: RouteSeries[] = []
  const requests = new Counter({
    name: 'plantstore_http_requests_total',
    help: 'Responses, by the template of the route, method and status',
    labelNames: ['route', 'method', 'status'],
    registers: [registry],
    collect() {
      for (const { route, method, requests } of allSeries) {
        for (const [status, count] of requests) this.inc({ route, method, status: String(status) }, count)
        requests.clear()
      }
    },
  })
  const durations = createHistogram({
    name: 'plantstore_http_request_duration_seconds',
    help: 'From the header fields of a request to the last byte of its response',
    buckets: DURATION_BUCKETS,
  })
  const rejections = new Counter({
    name: 'plantstore_rejections_total',
    help: 'Requests that were rejected or failed, by the error of the response',
    labelNames: ['error', 'reason'],
    registers: [registry],
  })
  /** By the template of the route, then by method. */
  const routes = new Map<string, Map<string, RouteSeries>>()
  // Every series starts at 0: Prometheus sees no increase in a series that appears with the value 1.
  const startRejections = (code: string, reason: string) => {
    rejections.inc({ error: code, reason }, 0)
    return rejections.labels(code, reason)
  }
  const rejectionsByCode = Object.fromEntries(
    Object.entries(REJECTION_REASONS).map(([code, reason]) => [code, startRejections(code, reason)]),
  ) as Record<ErrorCode, Counter.Internal>
  const overloads = Object.fromEntries(
    OVERLOAD_REASONS.map((reason) => [reason, startRejections('50301', OVERLOAD_CAUSES[reason])]),
  ) as Record<OverloadReason, Counter.Internal>

  function seriesOf({ template, method }: FastifyRequest): RouteSeries {
    const route = template ?? NO_ROUTE
    const ofRoute = getOrCreate(routes, route, () => new Map<string, RouteSeries>())
    const name = KNOWN_METHODS.has(method) ? method : OTHER_METHOD
    return getOrCreate(ofRoute, name, () => {
      const series = {
        route,
        method: name,
        duration: durations.addSeries({ route, method: name }),
        requests: new Map<number, number>(),
      }
      allSeries.push(series)
      return series
    })
  }

  return {
    record(request, reply) {
      // Without a response there is no status: `statusCode` is still the default 200.
      if (reply.raw.headersSent) {
        const series = seriesOf(request)
        const status = reply.raw.statusCode
        series.requests.set(status, (series.requests.get(status) ?? 0) + 1)
        series.duration.observe(reply.elapsedTime / 1000)
      }
      if (request.failure === null) return
      const { code, reason } = request.failure
      if (reason === undefined) rejectionsByCode[code].inc()
      else overloads[reason].inc()
    },
    recordUnreadable(code) {
      requests.inc({ route: UNREADABLE, method: OTHER_METHOD, status: String(meaningOf(code).status) })
      rejectionsByCode[code].inc()
    },
    durationsText: durations.text,
  }
}

function getOrCreate<Key, Value>(map: Map<Key, Value>, key: Key, create: () => Value): Value {
  const known = map.get(key)
  if (known !== undefined) return known
  const created = create()
  map.set(key, created)
  return created
}
