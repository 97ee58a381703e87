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
import packageJson from '../../package.json' with { type: 'json' }
import type { TracingSettings } from '../config/tracing-settings.ts'
import { meaningOf } from '../errors.ts'
import { KNOWN_METHODS } from '../http/request/known-methods.ts'
import { createRequestStages } from '../http/request/request-stages.ts'
import { templateOf } from '../http/request/route-template.ts'
import { withinTime } from '../load/within-time.ts'
import { createWatchedExporter } from './watched-exporter.ts'

/**
 * Traces that are begun in a second where no sampler was named. A trace costs as much as a create: that many are
 * enough to see by, and cost a percent of what the service does.
 */
const TRACES_A_SECOND_MAX = 100

/** How long a stop waits for the last spans to be sent. The exporter itself would go on for ten seconds. */
const STOP_TIMEOUT_MS = 3_000

const FIELDS = {
  get: (headers: FastifyRequest['headers'], name: string) => headers[name],
  keys: (headers: FastifyRequest['headers']) => Object.keys(headers),
}

/** What a span is of, and by which clock. */
interface BegunSpan {
  span: Span
  context: Context
  /** What makes a time since the epoch of one of `performance.now()`; the same for a span and its stages. */
  offsetMs: number
}

/** Tells a collector of requests, as spans of OpenTelemetry. */
export interface Tracing {
  /** Begins the span of a request, unless it is left out. To be called as soon as its head is there. */
  begin(request: FastifyRequest): void
  /** Ends it, with a span for each of its stages. */
  end(request: FastifyRequest, reply: FastifyReply): void
  /** Sends what is not sent yet, for a few seconds at most. */
  stop(): Promise<void>
}

/**
 * Sends spans over OTLP to where the standard variables say (OTEL_EXPORTER_OTLP_ENDPOINT and others, which the exporter
 * reads itself). Goes on with the trace of a caller that sends `traceparent` (W3C Trace Context), and names its own in
 * `traceresponse`. Names and attributes are those of the semantic conventions for HTTP spans, but for `url.path` and
 * `url.query`: spans hold the route, and neither ids, names, queries nor tokens.
 */
export function createTracing({ sampler, ratio, ...batch }: TracingSettings, log: Logger): Tracing {
  const exporter = createWatchedExporter(new OTLPTraceExporter(), log)
  const provider = new TracerProvider({
    resource: defaultResource()
      .merge(resourceFromAttributes({ 'service.name': 'plantstore', 'service.version': packageJson.version }))
      .merge(detectResources({ detectors: [envDetector] })),
    sampler: createSampler(sampler ?? 'parentbased_always_on', ratio),
    spanProcessors: [new BatchSpanProcessor({ exporter, ...batch })],
  })
  const tracer = provider.getTracer('plantstore', packageJson.version)
  const propagator = new W3CTraceContextPropagator()
  const mayBegin = budgetOf(TRACES_A_SECOND_MAX)
  /** Without a named sampler: what its caller does not record, which costs no other one its trace, and too many. */
  const isLeftOut = (parent: Context) => sampler === undefined && (isUnrecorded(parent) || !mayBegin())
  const spans = new WeakMap<FastifyRequest, BegunSpan>()

  return {
    begin(request) {
      const parent = propagator.extract(ROOT_CONTEXT, request.headers, FIELDS)
      if (isLeftOut(parent)) return
      // Only now: Fastify makes an object of them whenever they are asked for.
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
      const begun = spans.get(request)
      if (begun === undefined) return
      spans.delete(request)
      const { span, context, offsetMs } = begun
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
      // A collector that does not answer is no reason to stay.
      const shutdown = provider.shutdown().catch(() => {})
      await withinTime(shutdown, STOP_TIMEOUT_MS, () => new Error('no response in time')).catch(() => {
        log.warn('the collector of traces did not respond in time; the last spans are lost')
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

/** Says yes so many times a second. */
function budgetOf(timesASecond: number): () => boolean {
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

function isUnrecorded(parent: Context): boolean {
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
