import type { FastifyInstance } from 'fastify'
import type { Operation } from '../openapi.ts'
import { queryOf } from '../request/query.ts'
import { sendBody } from '../response/responses.ts'

export interface MetricsRoutesOptions {
  /** The media type of `text`. */
  mediaType: string
  /** The current metrics in the text format of Prometheus. */
  text(): Promise<string>
}

const getMetricsOperation: Operation = {
  operationId: 'getMetrics',
  summary: 'Get the metrics',
  description: 'In the text format of Prometheus, version 0.0.4.',
  group: 'Service',
  responses: {
    200: {
      description: 'Every metric',
      content: {
        'text/plain': {
          schema: { type: 'string' },
          example: '# TYPE plantstore_queued_writes gauge\nplantstore_queued_writes 0\n',
        },
      },
    },
  },
}

export function registerMetricsRoutes(app: FastifyInstance, { mediaType, text }: MetricsRoutesOptions): void {
  app.route({
    method: 'GET',
    url: '/metrics',
    config: { scope: 'metrics:read', operation: getMetricsOperation },
    async handler(request, reply) {
      queryOf(request, [])
      sendBody(reply, 200, mediaType, await text())
    },
  })
}
