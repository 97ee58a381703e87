import type { FastifyInstance } from 'fastify'
import { AppError } from '../errors.ts'
import { answerJson } from '../http/answers.ts'
import { queryOf } from '../http/query.ts'
import { parseIdText } from './plant.ts'
import { storedPlantJson } from './plant-json.ts'
import { listPlantsOperation, listTagsOperation } from './plant-operations.ts'
import { queryWords } from './plant-search.ts'
import type { PlantQuery, PlantStore } from './plant-store.ts'

const PAGE_PLANTS_DEFAULT = 100
/** A page is built in memory and sent whole. */
const PAGE_PLANTS_MAX = 1_000

export interface PlantListRoutesParts {
  plants: PlantStore
  /** The path of the base URL, before every path that is answered: '' or '/prefix'. */
  basePath: string
}

export function registerPlantListRoutes(
  app: FastifyInstance,
  { plants, basePath }: PlantListRoutesParts,
): void {
  app.route({
    method: 'GET',
    url: '/plants',
    config: { scope: 'plants:read', operation: listPlantsOperation },
    async handler(request, reply) {
      const parameters = queryOf(request, ['limit', 'after', 'tag', 'q'])
      const query: PlantQuery = { limit: limitIn(parameters.limit) }
      if (parameters.after !== undefined) query.afterId = afterIdIn(parameters.after)
      if (parameters.tag !== undefined) query.tag = parameters.tag
      if (parameters.q !== undefined) query.words = queryWords(parameters.q)
      const page = await plants.list(query)
      const last = page.plants.at(-1)
      const fields: string[] = []
      if (page.hasMore && last !== undefined) {
        const next = new URLSearchParams({ ...parameters, after: last.id.toString() })
        fields.push('link', `<${basePath}/plants?${next}>; rel="next"`)
      }
      answerJson(reply, 200, `[${page.plants.map(storedPlantJson).join(',')}]`, fields)
    },
  })

  app.route({
    method: 'GET',
    url: '/tags',
    config: { scope: 'plants:read', operation: listTagsOperation },
    async handler(request, reply) {
      const { limit } = queryOf(request, ['limit'])
      answerJson(reply, 200, JSON.stringify(await plants.countTags(limitIn(limit))))
    },
  })
}

function limitIn(text: string | undefined): number {
  if (text === undefined) return PAGE_PLANTS_DEFAULT
  if (!/^[1-9][0-9]*$/.test(text)) throw new AppError(40004, 'limit must be a whole number from 1 on.')
  return Math.min(Number(text), PAGE_PLANTS_MAX)
}

function afterIdIn(text: string): bigint {
  const id = parseIdText(text)
  if (id === undefined) throw new AppError(40004, 'after must be an id: a whole decimal number of 64 bits.')
  return id
}
