import type { FastifyInstance } from 'fastify'
import type { Operation } from '../../http/openapi.ts'
import type { BodyReader } from '../../http/request/read-body.ts'
import { preconditionOf } from '../entity-tags.ts'
import { parsePlant } from '../plant.ts'
import type { PlantStore } from '../plant-store.ts'
import {
  ID_IN_PATH,
  IF_MATCH,
  IF_NONE_MATCH,
  idIn,
  preconditionFailed,
  STORED_PLANT,
  sendPlant,
  type WithId,
} from './plant-parts.ts'

const replacePlantOperation: Operation = {
  operationId: 'replacePlant',
  summary: 'Replace or create a plant',
  description: 'An id in the body is optional and must equal the id in the path.',
  group: 'Plants',
  parameters: [ID_IN_PATH, IF_MATCH, IF_NONE_MATCH],
  requestBody: {
    required: true,
    content: {
      'application/json': {
        schema: { $ref: '#/components/schemas/Plant' },
        example: { name: 'Quercus petraea', tag: 'tree' },
      },
    },
  },
  responses: {
    200: { description: 'Replaced', headers: ['ETag'], content: STORED_PLANT },
    201: { description: 'Created', headers: ['ETag', 'Location'], content: STORED_PLANT },
  },
  errors: [40001, 40002, 40003, 41201, 41301, 41501, 50701],
}

export interface ReplaceRouteOptions {
  plants: PlantStore
  body: BodyReader
  /** The path of the base URL, which prefixes every route: '' or '/prefix'. */
  basePath: string
}

export function registerReplaceRoute(
  app: FastifyInstance,
  { plants, body, basePath }: ReplaceRouteOptions,
): void {
  app.route<WithId>({
    method: 'PUT',
    url: '/plants/:id',
    config: { scope: 'plants:write', operation: replacePlantOperation },
    async handler(request, reply) {
      const id = idIn(request)
      const plant = parsePlant(await body.readJson(request, reply), id)
      request.stages?.enter('commit')
      const replaced = await plants.replace(id, plant, preconditionOf(request.headers))
      if (replaced.outcome === 'mismatch') throw preconditionFailed(request)
      if (replaced.outcome === 'replaced') sendPlant(reply, 200, replaced.plant)
      else sendPlant(reply, 201, replaced.plant, ['location', `${basePath}/plants/${id}`])
    },
  })
}
