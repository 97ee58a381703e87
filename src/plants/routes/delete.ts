import type { FastifyInstance } from 'fastify'
import type { Operation } from '../../http/openapi.ts'
import { sendEmpty } from '../../http/response/responses.ts'
import { preconditionOf } from '../entity-tags.ts'
import type { PlantStore } from '../plant-store.ts'
import { ID_IN_PATH, IF_MATCH, idIn, noSuchPlant, preconditionFailed, type WithId } from './plant-parts.ts'

const deletePlantOperation: Operation = {
  operationId: 'deletePlant',
  summary: 'Delete a plant',
  group: 'Plants',
  parameters: [ID_IN_PATH, IF_MATCH],
  responses: { 204: { description: 'Deleted' } },
  errors: [40402, 41201, 50701],
}

export interface DeleteRouteOptions {
  plants: PlantStore
}

export function registerDeleteRoute(app: FastifyInstance, { plants }: DeleteRouteOptions): void {
  app.route<WithId>({
    method: 'DELETE',
    url: '/plants/:id',
    config: { scope: 'plants:write', operation: deletePlantOperation },
    async handler(request, reply) {
      const id = idIn(request)
      request.stages?.enter('commit')
      const { outcome } = await plants.delete(id, preconditionOf(request.headers))
      if (outcome === 'absent') throw noSuchPlant(id)
      if (outcome === 'mismatch') throw preconditionFailed(request)
      sendEmpty(reply, 204)
    },
  })
}
