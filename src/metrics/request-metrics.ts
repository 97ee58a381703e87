import type { FastifyReply, FastifyRequest } from 'fastify'
import { Counter, type Registry } from 'prom-client'
import { type ErrorCode, meaningOf, OVERLOAD_REASONS, type OverloadReason } from '../errors.ts'
import { KNOWN_METHODS } from '../http/request/known-methods.ts'
import { OVERLOAD_REASONS_IN_WORDS, REJECTION_REASONS } from './refusal-reasons.ts'
import { createTalliedHistogram, type Tally } from './tallied-histogram.ts'

/**
 * In seconds. A create is answered within 1 to 10 ms, most reads sooner, and the alert looks at 250 ms; from 1 s on a
 * request is logged as slow; the last ones are for imports and exports, and tell them apart from what hangs.
 */
const DURATION_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30]

/** The method of a request whose method is none of those that are known. */
const OTHER_METHOD = 'other'

/** The route of a request whose path no route has: the paths themselves are without number. */
const NO_ROUTE = 'none'
/** The route of bytes that made no request. */
const UNREADABLE = 'unreadable'

export interface RequestMetrics {
  /** Counts a request that is over; to be called once for each. */
  record(request: FastifyRequest, reply: FastifyReply): void
  /** Counts an answer to bytes that made no request, or not a whole one. */
  recordUnreadable(code: ErrorCode): void
}

/** What is counted for one method of one route. */
interface RouteSeries {
  route: string
  method: string
  duration: Tally
  /** Requests by status that the counter has not taken up yet: it looks labels up, which costs on every request. */
  requests: Map<number, number>
}

/** Requests and refusals, in `registry`. */
export function createRequestMetrics(registry: Registry): RequestMetrics {
  const allSeries: RouteSeries[] = []
  const requests = new Counter({
    name: 'plantstore_http_requests_total',
    help: 'Requests that were answered, by the template of their route, method and status',
    labelNames: ['route', 'method', 'status'],
    registers: [registry],
    collect() {
      for (const { route, method, requests } of allSeries) {
        for (const [status, count] of requests) this.inc({ route, method, status: String(status) }, count)
        requests.clear()
      }
    },
  })
  const startDurations = createTalliedHistogram({
    name: 'plantstore_http_request_duration_seconds',
    help: 'From the header fields of a request to the last byte of its answer',
    labelNames: ['route', 'method'],
    buckets: DURATION_BUCKETS,
    registers: [registry],
  })
  const refusals = new Counter({
    name: 'plantstore_refusals_total',
    help: 'Requests that were not done, by the error that they were answered with',
    labelNames: ['error', 'reason'],
    registers: [registry],
  })
  /** By the template of the route, then by method. */
  const routes = new Map<string, Map<string, RouteSeries>>()
  // All of them from the start: the first step of a counter that comes out of nothing is no increase to Prometheus.
  const startRefusals = (code: string, reason: string) => {
    refusals.inc({ error: code, reason }, 0)
    return refusals.labels(code, reason)
  }
  const refusalsByCode = Object.fromEntries(
    Object.entries(REJECTION_REASONS).map(([code, reason]) => [code, startRefusals(code, reason)]),
  ) as Record<ErrorCode, Counter.Internal>
  const overloads = Object.fromEntries(
    OVERLOAD_REASONS.map((reason) => [reason, startRefusals('50301', OVERLOAD_REASONS_IN_WORDS[reason])]),
  ) as Record<OverloadReason, Counter.Internal>

  function seriesOf({ template, method }: FastifyRequest): RouteSeries {
    const route = template ?? NO_ROUTE
    const ofRoute = getOrMake(routes, route, () => new Map<string, RouteSeries>())
    const name = KNOWN_METHODS.has(method) ? method : OTHER_METHOD
    return getOrMake(ofRoute, name, () => {
      const series = {
        route,
        method: name,
        duration: startDurations({ route, method: name }),
        requests: new Map<number, number>(),
      }
      allSeries.push(series)
      return series
    })
  }

  return {
    record(request, reply) {
      // One that was cut off before its answer began has no status: what is there then is the 200 of a new answer.
      if (reply.raw.headersSent) {
        const series = seriesOf(request)
        const status = reply.raw.statusCode
        series.requests.set(status, (series.requests.get(status) ?? 0) + 1)
        series.duration.observe(reply.elapsedTime / 1000)
      }
      if (request.failure === null) return
      const { code, reason } = request.failure
      if (reason === undefined) refusalsByCode[code].inc()
      else overloads[reason].inc()
    },
    recordUnreadable(code) {
      requests.inc({ route: UNREADABLE, method: OTHER_METHOD, status: String(meaningOf(code).status) })
      refusalsByCode[code].inc()
    },
  }
}

function getOrMake<Key, Value>(map: Map<Key, Value>, key: Key, make: () => Value): Value {
  const known = map.get(key)
  if (known !== undefined) return known
  const made = make()
  map.set(key, made)
  return made
}
