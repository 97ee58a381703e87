import type { FastifyInstance } from 'fastify'
import packageJson from '../../../package.json' with { type: 'json' }
import { AppError } from '../../errors.ts'
import { withinTime } from '../../load/within-time.ts'
import type { Operation } from '../openapi.ts'
import { sendJson } from '../response/responses.ts'

/** A store that takes longer than this to answer a trivial question is not ready. */
const PING_TIMEOUT_MS = 2_000

const ENGINES = ['sqlite', 'postgres'] as const

export const ReadinessSchema = {
  type: 'object',
  required: ['status', 'version', 'engine', 'writes'],
  properties: {
    status: { type: 'string', const: 'ready' },
    version: { type: 'string', description: 'The version of the service' },
    engine: { type: 'string', enum: ENGINES, description: 'What keeps the plants' },
    writes: {
      type: 'string',
      enum: ['working', 'failing'],
      description:
        'Failing since the storage refused the last commit, its disk being full, say; what reads works',
    },
  },
} as const

export interface HealthRoutesOptions {
  engine: (typeof ENGINES)[number]
  ping(): Promise<void>
  /** Has `tell` told of every commit from now on. */
  onCommit(tell: (commit: { isDurable: boolean }) => void): void
  /** Whether the service is on its way down. */
  isDraining(): boolean
}

function jsonResponse(description: string, schema: object, example: object) {
  return { 200: { description, content: { 'application/json': { schema, example } } } }
}

const getHealthOperation: Operation = {
  operationId: 'getHealth',
  summary: 'Is the process up?',
  group: 'Service',
  responses: jsonResponse(
    'It is',
    { type: 'object', required: ['status'], properties: { status: { type: 'string', const: 'up' } } },
    { status: 'up' },
  ),
}

const getReadinessOperation: Operation = {
  operationId: 'getReadiness',
  summary: 'May requests be sent here?',
  description:
    'Yes while the storage can be read and the service is not shutting down. Whether writes work is told beside it.',
  group: 'Service',
  responses: jsonResponse(
    'They may',
    { $ref: '#/components/schemas/Readiness' },
    { status: 'ready', version: '1.0.0', engine: 'sqlite', writes: 'working' },
  ),
  errors: [50302, 50303],
}

export function registerHealthRoutes(
  app: FastifyInstance,
  { engine, ping, onCommit, isDraining }: HealthRoutesOptions,
): void {
  let writes: 'working' | 'failing' = 'working'
  onCommit(({ isDurable }) => {
    writes = isDurable ? 'working' : 'failing'
  })
  app.route({
    method: 'GET',
    url: '/healthz',
    config: { scope: 'public', operation: getHealthOperation },
    handler(_request, reply) {
      sendJson(reply, 200, '{"status":"up"}')
    },
  })

  app.route({
    method: 'GET',
    url: '/readyz',
    config: { scope: 'public', operation: getReadinessOperation },
    async handler(_request, reply) {
      if (isDraining()) throw new AppError(50303)
      try {
        await withinTime(ping(), PING_TIMEOUT_MS, () => new Error('no response in time'))
      } catch (cause) {
        throw new AppError(50302, 'The storage did not answer. Try again in a moment.', { cause })
      }
      // Ready all the same: without it nobody could read either, and what is written is refused with the reason.
      sendJson(reply, 200, JSON.stringify({ status: 'ready', version: packageJson.version, engine, writes }))
    },
  })
}
