import type { FastifyInstance } from 'fastify'
import type { Operation } from '../../http/openapi.ts'
import type { BodyReader } from '../../http/request/read-body.ts'
import { preconditionOf } from '../entity-tags.ts'
import { parsePlantUpdate } from '../plant.ts'
import type { PlantStore } from '../plant-store.ts'
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

const MERGE_PATCH_TYPES = ['application/merge-patch+json', 'application/json']

const UPDATE_CONTENT = {
  schema: { $ref: '#/components/schemas/PlantUpdate' },
  example: { tag: 'oak' },
}

const updatePlantOperation: Operation = {
  operationId: 'updatePlant',
  summary: 'Update a plant',
  description:
    'A JSON merge patch (RFC 7396): absent members stay unchanged, and `"tag": null` deletes the tag.',
  group: 'Plants',
  parameters: [ID_IN_PATH, IF_MATCH],
  requestBody: {
    required: true,
    content: { 'application/merge-patch+json': UPDATE_CONTENT, 'application/json': UPDATE_CONTENT },
  },
  responses: { 200: { description: 'Updated', headers: ['ETag'], content: STORED_PLANT } },
  errors: [40001, 40002, 40003, 40402, 41201, 41301, 41501, 50701],
}

export interface UpdateRouteOptions {
  plants: PlantStore
  body: BodyReader
}

export function registerUpdateRoute(app: FastifyInstance, { plants, body }: UpdateRouteOptions): void {
  app.route<WithId>({
    method: 'PATCH',
    url: '/plants/:id',
    config: { scope: 'plants:write', operation: updatePlantOperation },
    async handler(request, reply) {
      const id = idIn(request)
      const update = parsePlantUpdate(await body.readJson(request, reply, MERGE_PATCH_TYPES), id)
      request.stages?.enter('commit')
      const updated = await plants.update(id, update, preconditionOf(request.headers))
      if (updated.outcome === 'updated') sendPlant(reply, 200, updated.plant)
      else throw updated.outcome === 'absent' ? noSuchPlant(id) : preconditionFailed(request)
    },
  })
}
