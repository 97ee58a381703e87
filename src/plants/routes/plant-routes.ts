import type { FastifyInstance } from 'fastify'
import type { BodyReader } from '../../http/request/read-body.ts'
import type { SendLongJson } from '../../http/response/compression.ts'
import type { PlantStore } from '../plant-store.ts'
import { registerAdditionsRoute } from './additions.ts'
import { registerCreateRoute } from './create.ts'
import { registerDeleteRoute } from './delete.ts'
import type { ExportRouteOptions } from './export.ts'
import { registerImportRoute } from './import.ts'
import { registerListRoute } from './list.ts'
import { registerNextIdRoute } from './next-id.ts'
import { registerReadRoute } from './read.ts'
import { registerReplaceRoute } from './replace.ts'
import { registerTagsRoute } from './tags.ts'
import { registerUpdateRoute } from './update.ts'

export interface PlantRoutesOptions extends ExportRouteOptions {
  plants: PlantStore
  body: BodyReader
  sendLongJson: SendLongJson
  /** The path of the base URL, which prefixes every route: '' or '/prefix'. */
  basePath: string
  /** The base URL without a slash at its end, for links; only its path if it is not set. */
  linkBase: string
}

export function registerPlantRoutes(app: FastifyInstance, options: PlantRoutesOptions): void {
  registerCreateRoute(app, options)
  registerReadRoute(app, options)
  registerReplaceRoute(app, options)
  registerUpdateRoute(app, options)
  registerDeleteRoute(app, options)
  registerListRoute(app, options)
  registerNextIdRoute(app, options)
  registerTagsRoute(app, options)
  registerAdditionsRoute(app, options)
  registerImportRoute(app, options)
}
