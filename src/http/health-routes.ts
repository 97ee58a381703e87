import type { FastifyInstance } from 'fastify'
import { AppError } from '../errors.ts'
import { answerJson } from './answers.ts'
import type { Operation } from './openapi.ts'

/** A store that takes longer than this to answer a trivial question is not ready. */
const PING_TIMEOUT_MS = 2_000

export interface HealthRoutesParts {
  ping(): Promise<void>
  /** Whether the service is on its way down. */
  isDraining(): boolean
}

const STATUS_ANSWER = (description: string, status: string) => ({
  200: {
    description,
    content: {
      'application/json': {
        schema: { type: 'object', required: ['status'], properties: { status: { type: 'string' } } },
        example: { status },
      },
    },
  },
})

const getHealthOperation: Operation = {
  operationId: 'getHealth',
  summary: 'Is the process up?',
  group: 'Service',
  answers: STATUS_ANSWER('It is', 'up'),
}

const getReadinessOperation: Operation = {
  operationId: 'getReadiness',
  summary: 'May requests be sent here?',
  description: 'Yes while the storage answers and the service is not shutting down.',
  group: 'Service',
  answers: STATUS_ANSWER('They may', 'ready'),
  errors: [50302, 50303],
}

export function registerHealthRoutes(app: FastifyInstance, { ping, isDraining }: HealthRoutesParts): void {
  app.route({
    method: 'GET',
    url: '/healthz',
    config: { scope: 'public', operation: getHealthOperation },
    handler(_request, reply) {
      answerJson(reply, 200, '{"status":"up"}')
    },
  })

  app.route({
    method: 'GET',
    url: '/readyz',
    config: { scope: 'public', operation: getReadinessOperation },
    async handler(_request, reply) {
      if (isDraining()) throw new AppError(50303)
      await withinTime(ping())
      answerJson(reply, 200, '{"status":"ready"}')
    },
  })
}

async function withinTime(answer: Promise<void>): Promise<void> {
  const timeout = Promise.withResolvers<void>()
  const timer = setTimeout(() => timeout.reject(new AppError(50302)), PING_TIMEOUT_MS)
  try {
    await Promise.race([answer, timeout.promise])
  } catch (cause) {
    throw new AppError(50302, undefined, { cause })
  } finally {
    clearTimeout(timer)
  }
}
