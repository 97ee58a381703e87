import type { FastifyInstance } from 'fastify'
import type { Operation } from '../../http/openapi.ts'
import { queryOf } from '../../http/request/query.ts'
import { sendJson } from '../../http/response/responses.ts'
import { NEXT_ID_MAX, nextId } from '../next-id.ts'
import type { PlantStore } from '../plant-store.ts'
import { readOptionsOf } from './read-options.ts'

const getNextIdOperation: Operation = {
  operationId: 'getNextId',
  summary: 'Suggest a free id',
  description:
    `One more than the greatest id up to ${NEXT_ID_MAX}; a random one if that id is used. The id is not reserved: if ` +
    'another caller uses it first, a create responds 40901. Then request another one.',
  group: 'Plants',
  responses: {
    200: {
      description: 'An id that no plant has',
      content: {
        'application/json': {
          schema: {
            type: 'object',
            required: ['id'],
            properties: { id: { type: 'integer', format: 'int64' } },
          },
          example: { id: 43 },
        },
      },
    },
  },
}

export interface NextIdRouteOptions {
  plants: PlantStore
}

export function registerNextIdRoute(app: FastifyInstance, { plants }: NextIdRouteOptions): void {
  app.route({
    method: 'GET',
    url: '/next-id',
    config: { scope: 'plants:write', operation: getNextIdOperation },
    async handler(request, reply) {
      queryOf(request, [])
      sendJson(reply, 200, `{"id":${await nextId(plants, readOptionsOf(request))}}`)
    },
  })
}
