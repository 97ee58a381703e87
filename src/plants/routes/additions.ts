import type { FastifyInstance } from 'fastify'
import type { Operation } from '../../http/openapi.ts'
import { queryOf } from '../../http/request/query.ts'
import type { SendLongJson } from '../../http/response/compression.ts'
import { createAdditionsCount } from '../plant-additions.ts'
import type { PlantStore } from '../plant-store.ts'

const countAdditionsOperation: Operation = {
  operationId: 'countAdditions',
  summary: 'Count plants by the day of their creation',
  description:
    'Deleted plants are not counted. A count reads every plant, which takes seconds for millions, so its result is ' +
    'cached: for a minute, or for fifty times the duration of the count if that is longer. `countedAt` is the time ' +
    'of the count.',
  group: 'Plants',
  responses: {
    200: {
      description: 'The days, with the number of plants created on each',
      content: {
        'application/json': {
          schema: { $ref: '#/components/schemas/Additions' },
          example: {
            countedAt: '2026-11-28T09:30:00.000Z',
            days: [
              { day: '2026-04-01', count: 12 },
              { day: '2026-11-28', count: 3 },
            ],
          },
        },
      },
    },
  },
}

export interface AdditionsRouteOptions {
  plants: PlantStore
  sendLongJson: SendLongJson
}

export function registerAdditionsRoute(
  app: FastifyInstance,
  { plants, sendLongJson }: AdditionsRouteOptions,
): void {
  const countAdditions = createAdditionsCount({ plants })
  app.route({
    method: 'GET',
    url: '/additions',
    config: { scope: 'plants:read', operation: countAdditionsOperation },
    async handler(request, reply) {
      queryOf(request, [])
      await sendLongJson(request, reply, JSON.stringify(await countAdditions()))
    },
  })
}
