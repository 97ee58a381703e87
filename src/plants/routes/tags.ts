import type { FastifyInstance } from 'fastify'
import type { Operation } from '../../http/openapi.ts'
import { queryOf } from '../../http/request/query.ts'
import type { SendLongJson } from '../../http/response/compression.ts'
import type { PlantStore } from '../plant-store.ts'
import { LIMIT, limitIn } from './limit.ts'
import { readOptionsOf } from './read-options.ts'

const listTagsOperation: Operation = {
  operationId: 'listTags',
  summary: 'List tags',
  description:
    'The tags of all plants, the most used first. Fewer than `limit` if they are very long: about 4 Mi characters in all.',
  group: 'Plants',
  parameters: [LIMIT],
  responses: {
    200: {
      description: 'The tags, with the number of plants that have each',
      content: {
        'application/json': {
          schema: { type: 'array', items: { $ref: '#/components/schemas/TagCount' } },
          example: [{ tag: 'tree', count: 2 }],
        },
      },
    },
  },
}

export interface TagsRouteOptions {
  plants: PlantStore
  sendLongJson: SendLongJson
}

export function registerTagsRoute(app: FastifyInstance, { plants, sendLongJson }: TagsRouteOptions): void {
  app.route({
    method: 'GET',
    url: '/tags',
    config: { scope: 'plants:read', operation: listTagsOperation },
    async handler(request, reply) {
      const limit = limitIn(queryOf(request, ['limit']).limit)
      const tags = await plants.countTags(limit, readOptionsOf(request))
      await sendLongJson(request, reply, JSON.stringify(tags))
    },
  })
}
