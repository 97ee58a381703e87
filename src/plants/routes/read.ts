import type { FastifyInstance } from 'fastify'
import type { Operation } from '../../http/openapi.ts'
import { sendEmpty } from '../../http/response/responses.ts'
import { preconditionOf } from '../entity-tags.ts'
import { entityTagOf } from '../plant.ts'
import { type PlantStore, preconditionHolds } from '../plant-store.ts'
import {
  ID_IN_PATH,
  IF_MATCH,
  idIn,
  noSuchPlant,
  preconditionFailed,
  STORED_PLANT,
  sendPlant,
  type WithId,
} from './plant-parts.ts'
import { readOptionsOf } from './read-options.ts'

const getPlantOperation: Operation = {
  operationId: 'getPlant',
  summary: 'Read a plant',
  group: 'Plants',
  parameters: [
    ID_IN_PATH,
    IF_MATCH,
    {
      name: 'If-None-Match',
      in: 'header',
      description:
        'Respond 304 if the current ETag of the plant is one of these; `*` means if the plant exists',
      schema: { type: 'string' },
    },
  ],
  responses: {
    200: { description: 'The plant', headers: ['ETag'], content: STORED_PLANT },
    304: { description: 'The plant still has one of these ETags', headers: ['ETag'] },
  },
  errors: [40402, 41201],
}

export interface ReadRouteOptions {
  plants: PlantStore
}

export function registerReadRoute(app: FastifyInstance, { plants }: ReadRouteOptions): void {
  app.route<WithId>({
    method: 'GET',
    url: '/plants/:id',
    config: { scope: 'plants:read', operation: getPlantOperation },
    async handler(request, reply) {
      const id = idIn(request)
      const { ifMatch, ifNoneMatch } = preconditionOf(request.headers)
      request.stages?.enter('read')
      const plant = await plants.get(id, readOptionsOf(request))
      if (plant === undefined) throw noSuchPlant(id)
      if (ifMatch !== undefined && !preconditionHolds({ ifMatch }, plant.version)) {
        throw preconditionFailed(request)
      }
      if (ifNoneMatch !== undefined && !preconditionHolds({ ifNoneMatch }, plant.version)) {
        sendEmpty(reply, 304, ['etag', entityTagOf(plant.version)])
      } else {
        sendPlant(reply, 200, plant)
      }
    },
  })
}
