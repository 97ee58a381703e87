import { setTimeout } from 'node:timers/promises'
import { type Context, ROOT_CONTEXT, type Span, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
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
import { templateOf } from '../http/request-path.ts'
import { createRequestStages } from '../http/request-stages.ts'
import type { TracingSettings } from './tracing-settings.ts'
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
 * `traceresponse`. Spans hold the route, and neither ids, names, queries nor tokens.
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
  const mayBegin = sampler === undefined ? budgetOf(TRACES_A_SECOND_MAX) : () => true
  const spans = new WeakMap<FastifyRequest, { span: Span; context: Context }>()

  return {
    begin(request) {
      if (!mayBegin()) return
      const { method, headers, routeOptions } = request
      const route = routeOptions.url === undefined ? undefined : templateOf(routeOptions.url)
      const parent = propagator.extract(ROOT_CONTEXT, headers, FIELDS)
      const span = tracer.startSpan(
        route === undefined ? method : `${method} ${route}`,
        {
          kind: SpanKind.SERVER,
          attributes: {
            'http.request.method': method,
            'url.scheme': request.protocol,
            ...(route !== undefined && { 'http.route': route }),
          },
        },
        parent,
      )
      const { traceId, spanId, traceFlags } = span.spanContext()
      request.answerFields ??= []
      request.answerFields.push('traceresponse', `00-${traceId}-${spanId}-0${traceFlags}`)
      if (!span.isRecording()) return
      spans.set(request, { span, context: trace.setSpan(parent, span) })
      request.stages ??= createRequestStages()
    },

    end(request, reply) {
      const begun = spans.get(request)
      if (begun === undefined) return
      spans.delete(request)
      const { span, context } = begun
      for (const { name, startMs, endMs } of request.stages?.passed ?? []) {
        tracer.startSpan(name, { startTime: epochMs(startMs) }, context).end(epochMs(endMs))
      }
      const status = reply.raw.statusCode
      span.setAttributes({ 'http.response.status_code': status, 'plantstore.request_id': request.id })
      if (request.failure !== null) span.setAttribute('error.type', String(request.failure.code))
      if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR })
      span.end()
    },

    async stop() {
      // A collector that does not answer is no reason to stay.
      const ended = new AbortController()
      const late = setTimeout(STOP_TIMEOUT_MS, undefined, ended).then(
        () => log.warn('the collector of traces did not answer in time; the last spans are lost'),
        () => {},
      )
      await Promise.race([provider.shutdown().catch(() => {}), late])
      ended.abort()
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

function epochMs(performanceMs: number): number {
  return performance.timeOrigin + performanceMs
}
