import type { FastifyInstance } from 'fastify'
import type { Operation } from '../../http/openapi.ts'
import { queryOf } from '../../http/request/query.ts'
import type { SendLongJson } from '../../http/response/compression.ts'
import { createAdditionsCount } from '../plant-additions.ts'
import type { PlantStore } from '../plant-store.ts'

const countAdditionsOperation: Operation = {
  operationId: 'countAdditions',
  summary: 'Count plants by the day on which they were added',
  description:
    'Of the plants that there are; removed ones are not counted. All plants are read for it, which takes seconds ' +
    'where there are millions, so the answer is kept and given again: for a minute, or fifty times as long as the ' +
    'count took where that is more. `countedAt` tells how old it is.',
  group: 'Plants',
  responses: {
    200: {
      description: 'Days, and how many plants were added on each',
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
