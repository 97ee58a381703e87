import {
  type Attributes,
  type Context,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  trace,
} from '@opentelemetry/api'
import { W3CTraceContextPropagator } from '@opentelemetry/core'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
} from '@opentelemetry/resources'
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Logger } from 'pino'
import type { TracingSettings } from '../config/tracing-settings.ts'
import { meaningOf } from '../errors.ts'
import { KNOWN_METHODS } from '../http/request/known-methods.ts'
import { createRequestStages } from '../http/request/request-stages.ts'
import { templateOf } from '../http/request/route-template.ts'
import { withinTime } from '../load/within-time.ts'
import { createWatchedExporter } from './watched-exporter.ts'

/**
 * The maximum number of new traces per second if no sampler is configured. A trace costs as much as a create, so this
 * many cost about one percent of the capacity.
 */
const TRACES_A_SECOND_MAX = 100

/** How long a stop waits until the last spans are sent. The exporter itself would wait ten seconds. */
const STOP_TIMEOUT_MS = 3_000

const FIELDS = {
  get: (headers: FastifyRequest['headers'], name: string) => headers[name],
  keys: (headers: FastifyRequest['headers']) => Object.keys(headers),
}

/** The span of a running request. */
interface RunningSpan {
  span: Span
  context: Context
  /** Milliseconds between 1970 and the start of `performance.now()`. The stages of a span use the same. */
  offsetMs: number
}

/** Sends a span of OpenTelemetry for each request to a collector. */
export interface Tracing {
  /** Starts the span of a request, unless it is not sampled. Call it as soon as the header is read. */
  begin(request: FastifyRequest): void
  /** Ends the span, with a child span for each stage of the request. */
  end(request: FastifyRequest, reply: FastifyReply): void
  /** Sends the remaining spans, for at most STOP_TIMEOUT_MS. */
  stop(): Promise<void>
}

/**
 * Sends spans over OTLP as the standard variables configure it (OTEL_EXPORTER_OTLP_ENDPOINT and others, which the
 * exporter reads itself). Continues the trace of a caller that sends `traceparent` (W3C Trace Context), and names its
 * own in `traceresponse`. Names and attributes follow the semantic conventions for HTTP spans, without `url.path` and
 * `url.query`: spans have the route, but no ids, names, queries or tokens.
 */
export function createTracing(
  { sampler, ratio, ...batch }: TracingSettings,
  version: string,
  log: Logger,
): Tracing {
  const exporter = createWatchedExporter(new OTLPTraceExporter(), log)
  const provider = new TracerProvider({
    resource: defaultResource()
      .merge(resourceFromAttributes({ 'service.name': 'plantstore', 'service.version': version }))
      .merge(detectResources({ detectors: [envDetector] })),
    sampler: createSampler(sampler ?? 'parentbased_always_on', ratio),
    spanProcessors: [new BatchSpanProcessor({ exporter, ...batch })],
  })
  const tracer = provider.getTracer('plantstore', version)
  const propagator = new W3CTraceContextPropagator()
  const hasBudget = createBudget(TRACES_A_SECOND_MAX)
  /** Without a configured sampler: requests that the caller does not sample, which take no budget, and excess ones. */
  const isSkipped = (parent: Context) => sampler === undefined && (isUnsampled(parent) || !hasBudget())
  const spans = new WeakMap<FastifyRequest, RunningSpan>()

  return {
    begin(request) {
      const parent = propagator.extract(ROOT_CONTEXT, request.headers, FIELDS)
      if (isSkipped(parent)) return
      // Not earlier: each access to routeOptions creates an object.
      const { method, routeOptions } = request
      const route = routeOptions.url === undefined ? undefined : templateOf(routeOptions.url)
      const startMs = performance.now()
      const offsetMs = Date.now() - startMs
      const span = tracer.startSpan(
        spanNameOf(method, route),
        {
          kind: SpanKind.SERVER,
          startTime: offsetMs + startMs,
          attributes: {
            ...methodAttributes(method),
            'url.scheme': request.protocol,
            'network.protocol.version': request.raw.httpVersion,
            ...(route !== undefined && { 'http.route': route }),
          },
        },
        parent,
      )
      const { traceId, spanId, traceFlags } = span.spanContext()
      request.responseFields ??= []
      request.responseFields.push('traceresponse', `00-${traceId}-${spanId}-0${traceFlags}`)
      if (!span.isRecording()) return
      spans.set(request, { span, context: trace.setSpan(parent, span), offsetMs })
      request.stages ??= createRequestStages()
    },

    end(request, reply) {
      const running = spans.get(request)
      if (running === undefined) return
      spans.delete(request)
      const { span, context, offsetMs } = running
      for (const { name, startMs, endMs } of request.stages?.passed ?? []) {
        tracer.startSpan(name, { startTime: offsetMs + startMs }, context).end(offsetMs + endMs)
      }
      span.setAttribute('plantstore.request_id', request.id)
      if (request.failure !== null) span.setAttribute('plantstore.error', request.failure.code)
      if (reply.raw.headersSent) span.setAttribute('http.response.status_code', reply.raw.statusCode)
      const fault = faultOf(request, reply)
      if (fault !== undefined) {
        span.setAttribute('error.type', fault)
        span.setStatus({ code: SpanStatusCode.ERROR })
      }
      span.end(offsetMs + performance.now())
    },

    async stop() {
      // A collector that does not respond must not delay the stop.
      const shutdown = provider.shutdown().catch(() => {})
      await withinTime(shutdown, STOP_TIMEOUT_MS, () => new Error('no response in time')).catch(() => {
        log.warn('the trace collector did not respond in time; the last spans are lost')
      })
    },
  }
}

function createSampler(name: NonNullable<TracingSettings['sampler']>, ratio: number): Sampler {
  const kind = name.replace('parentbased_', '')
  const root =
    kind === 'always_on'
      ? new AlwaysOnSampler()
      : kind === 'always_off'
        ? new AlwaysOffSampler()
        : new TraceIdRatioBasedSampler(ratio)
  return name === kind ? root : new ParentBasedSampler({ root })
}

/** Returns a function that is true up to `timesASecond` times each second. */
function createBudget(timesASecond: number): () => boolean {
  let left = timesASecond
  let secondEndsMs = 0
  return () => {
    const nowMs = performance.now()
    if (nowMs >= secondEndsMs) {
      secondEndsMs = nowMs + 1_000
      left = timesASecond
    }
    left -= 1
    return left >= 0
  }
}

function isUnsampled(parent: Context): boolean {
  const caller = trace.getSpanContext(parent)
  return caller !== undefined && (caller.traceFlags & TraceFlags.SAMPLED) === 0
}

function spanNameOf(method: string, route: string | undefined): string {
  const name = KNOWN_METHODS.has(method) ? method : 'HTTP'
  return route === undefined ? name : `${name} ${route}`
}

function methodAttributes(method: string): Attributes {
  if (KNOWN_METHODS.has(method)) return { 'http.request.method': method }
  return { 'http.request.method': '_OTHER', 'http.request.method_original': method }
}

/**
 * The fault of the service in a request: the error code, the status, or `dropped` for an incomplete response.
 * Rejections are not faults (semantic conventions for HTTP spans, "Status").
 */
function faultOf({ failure }: FastifyRequest, { raw }: FastifyReply): string | undefined {
  if (failure !== null && meaningOf(failure.code).status >= 500) return String(failure.code)
  if (!raw.writableFinished) return 'dropped'
  return raw.statusCode >= 500 ? String(raw.statusCode) : undefined
}
