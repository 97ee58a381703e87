import type { FastifyReply, FastifyRequest } from 'fastify'
import { Counter, Histogram, type Registry } from 'prom-client'
import { type ErrorCode, meaningOf, OVERLOAD_REASONS, type OverloadReason } from '../errors.ts'
import { OVERLOAD_REASONS_IN_WORDS, REFUSAL_REASONS } from './refusal-reasons.ts'

/**
 * In seconds. A create is answered within 1 to 10 ms, most reads sooner, and the alert looks at 250 ms; from 1 s on a
 * request is logged as slow; the last ones are for imports and exports, and tell them apart from what hangs.
 */
const DURATION_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30]

/** Methods by their names; a client can invent any number of others. */
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])
const OTHER_METHOD = 'other'

/** The route of a request whose path no route has: the paths themselves are without number. */
const NO_ROUTE = 'none'
/** The route of bytes that made no request. */
const UNREADABLE = 'unreadable'

export interface RequestMetrics {
  /** Counts a request that was answered; to be called once for each. */
  record(request: FastifyRequest, reply: FastifyReply): void
  /** Counts an answer to bytes that made no request, or not a whole one. */
  recordUnreadable(code: ErrorCode): void
}

/** What is counted for one method of one route, found once: each label that is looked up costs on every request. */
interface RouteSeries {
  route: string
  method: string
  duration: Histogram.Internal<'route' | 'method'>
  requests: Map<number, Counter.Internal>
}

/** Requests and refusals, in `registry`. A path is told without `basePath`, the path of the base URL. */
export function createRequestMetrics(registry: Registry, basePath: string): RequestMetrics {
  const requests = new Counter({
    name: 'plantstore_http_requests_total',
    help: 'Requests that were answered, by the template of their route, method and status',
    labelNames: ['route', 'method', 'status'],
    registers: [registry],
  })
  const durations = new Histogram({
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
  /** By what Fastify keeps of a route and method, which is one object for all of its requests. */
  const routes = new Map<object, RouteSeries>()
  const unrouted = new Map<string, RouteSeries>()
  // All of them from the start: the first step of a counter that comes out of nothing is no increase to Prometheus.
  const startRefusals = (code: string, reason: string) => {
    refusals.inc({ error: code, reason }, 0)
    return refusals.labels(code, reason)
  }
  const refusalsByCode = Object.fromEntries(
    Object.entries(REFUSAL_REASONS).map(([code, reason]) => [code, startRefusals(code, reason)]),
  ) as Record<ErrorCode, Counter.Internal>
  const overloads = Object.fromEntries(
    OVERLOAD_REASONS.map((reason) => [reason, startRefusals('50301', OVERLOAD_REASONS_IN_WORDS[reason])]),
  ) as Record<OverloadReason, Counter.Internal>

  function newSeries(route: string, method: string): RouteSeries {
    return { route, method, duration: durations.labels(route, method), requests: new Map() }
  }

  function seriesOf(request: FastifyRequest): RouteSeries {
    const method = METHODS.has(request.method) ? request.method : OTHER_METHOD
    // Of a target that cannot be decoded there is nothing but this.
    if (request.is404) return getOrMake(unrouted, method, () => newSeries(NO_ROUTE, method))
    const { config } = request.routeOptions
    return getOrMake(routes, config, () => newSeries(templateOf(config.url.slice(basePath.length)), method))
  }

  return {
    record(request, reply) {
      const series = seriesOf(request)
      const status = reply.raw.statusCode
      getOrMake(series.requests, status, () =>
        requests.labels(series.route, series.method, String(status)),
      ).inc()
      series.duration.observe(reply.elapsedTime / 1000)
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

/** `/plants/:id` as the API's document writes it: `/plants/{id}`. */
function templateOf(url: string): string {
  return (url || '/').replace(/:(\w+)/g, '{$1}')
}

function getOrMake<Key, Value>(map: Map<Key, Value>, key: Key, make: () => Value): Value {
  const known = map.get(key)
  if (known !== undefined) return known
  const made = make()
  map.set(key, made)
  return made
}
