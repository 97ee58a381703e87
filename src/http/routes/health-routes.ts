import type { FastifyInstance } from 'fastify'
import { AppError } from '../../errors.ts'
import { withinTime } from '../../load/within-time.ts'
import type { Operation } from '../openapi.ts'
import { sendJson } from '../response/responses.ts'

/** A database that needs longer than this for a trivial query is not ready. */
const PING_TIMEOUT_MS = 2_000

const ENGINES = ['sqlite', 'postgres'] as const

export const ReadinessSchema = {
  type: 'object',
  required: ['status', 'version', 'engine', 'writes'],
  properties: {
    status: { type: 'string', const: 'ready' },
    version: { type: 'string', description: 'The version of the service, with the commit of its build' },
    engine: { type: 'string', enum: ENGINES, description: 'The database engine' },
    writes: {
      type: 'string',
      enum: ['working', 'failing'],
      description:
        '`failing` if the last commit failed, for example because the disk is full. Reads still work.',
    },
    reason: {
      type: 'string',
      enum: ['database-moved'],
      description:
        'Why writes fail, if it is known. `database-moved`: the database files were moved, removed or replaced. Reads come from the open files; exports are rejected.',
    },
  },
} as const

export interface HealthRoutesOptions {
  /** The version of the program. */
  version: string
  engine: (typeof ENGINES)[number]
  ping(): Promise<void>
  /** Calls `listener` after every commit from now on. */
  onCommit(listener: (commit: { isDurable: boolean }) => void): void
  /** Whether the database files are moved, so that nothing can be written. */
  filesMoved(): boolean
  /** Whether the service is shutting down. */
  isDraining(): boolean
}

function jsonResponse(description: string, schema: object, example: object) {
  return { 200: { description, content: { 'application/json': { schema, example } } } }
}

const getHealthOperation: Operation = {
  operationId: 'getHealth',
  summary: 'Check that the process is up',
  group: 'Service',
  responses: jsonResponse(
    'The process is up',
    { type: 'object', required: ['status'], properties: { status: { type: 'string', const: 'up' } } },
    { status: 'up' },
  ),
}

const getReadinessOperation: Operation = {
  operationId: 'getReadiness',
  summary: 'Check that the service is ready for requests',
  description:
    'Ready means that the database responds and the service is not shutting down. `writes` is the state of writes.',
  group: 'Service',
  responses: jsonResponse(
    'The service is ready',
    { $ref: '#/components/schemas/Readiness' },
    { status: 'ready', version: '1.0.0+g1a2b3c4', engine: 'sqlite', writes: 'working' },
  ),
  errors: [50302, 50303],
}

export function registerHealthRoutes(
  app: FastifyInstance,
  { version, engine, ping, onCommit, filesMoved, isDraining }: HealthRoutesOptions,
): void {
  let writes: 'working' | 'failing' = 'working'
  onCommit(({ isDurable }) => {
    // Moved files have their own state: once they are back, writes work again.
    if (isDurable) writes = 'working'
    else if (!filesMoved()) writes = 'failing'
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
        throw new AppError(50302, 'The database did not respond. Retry in a moment.', { cause })
      }
      // Ready even while writes fail: otherwise nobody could read either. A write is rejected with the reason.
      const ready = { status: 'ready', version, engine }
      const state = filesMoved() ? { writes: 'failing', reason: 'database-moved' } : { writes }
      sendJson(reply, 200, JSON.stringify({ ...ready, ...state }))
    },
  })
}
