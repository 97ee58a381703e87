import type { FastifyInstance, FastifyRequest } from 'fastify'
import { invalidParameter } from '../../errors.ts'
import { preferredMediaType } from '../../http/request/accept.ts'
import { queryOf } from '../../http/request/query.ts'
import { sendLongJson } from '../../http/response/compression.ts'
import { CSV, NDJSON } from '../import/import-parameters.ts'
import { ID_MAX, ID_MIN, parseIdText } from '../plant.ts'
import { createAdditionsCount } from '../plant-additions.ts'
import { storedPlantJson } from '../plant-json.ts'
import { queryWords } from '../plant-search.ts'
import type { PlantFilter, PlantQuery, PlantStore } from '../plant-store.ts'
import { sendExport } from './export-routes.ts'
import { countAdditionsOperation, listPlantsOperation, listTagsOperation } from './list-operations.ts'
import { readOptionsOf } from './read-options.ts'

const PAGE_PLANTS_DEFAULT = 100
/** A page is built in memory and sent whole. */
const PAGE_PLANTS_MAX = 1_000

export interface PlantListRoutesOptions {
  plants: PlantStore
  /** The path of the base URL, before every path that is answered: '' or '/prefix'. */
  basePath: string
}

type ListParameters = Partial<Record<'limit' | 'after' | 'tag' | 'q' | 'bom', string>>

export function registerPlantListRoutes(
  app: FastifyInstance,
  { plants, basePath }: PlantListRoutesOptions,
): void {
  app.route({
    method: 'GET',
    url: '/plants',
    config: { scope: 'plants:read', operation: listPlantsOperation },
    async handler(request, reply) {
      const accepted = preferredMediaType(request.headers.accept, ['application/json', NDJSON, CSV])
      if (accepted === NDJSON || accepted === CSV) {
        const parameters = exportParametersOf(request, accepted)
        const format = accepted === NDJSON ? 'ndjson' : parameters.bom === '1' ? 'csv-with-mark' : 'csv'
        await sendExport(request, reply, filterIn(parameters), format, plants)
        return
      }
      const parameters = queryOf(request, ['limit', 'after', 'tag', 'q'])
      const query: PlantQuery = { ...filterIn(parameters), limit: limitIn(parameters.limit) }
      request.stages?.enter('read')
      const page = await plants.list(query, readOptionsOf(request))
      const last = page.plants.at(-1)
      const fields = ['vary', 'Accept']
      if (page.hasMore && last !== undefined) {
        const next = new URLSearchParams({ ...parameters, after: last.id.toString() })
        fields.push('link', `<${basePath}/plants?${next}>; rel="next"`)
      }
      await sendLongJson(request, reply, `[${page.plants.map(storedPlantJson).join(',')}]`, fields)
    },
  })

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

/** The query of an export, of which a page has the limit, and only a table in CSV may have a byte order mark. */
function exportParametersOf(request: FastifyRequest, mediaType: typeof NDJSON | typeof CSV): ListParameters {
  const { limit, ...parameters } = queryOf(request, ['after', 'tag', 'q', 'bom', 'limit'])
  if (limit !== undefined) {
    throw invalidParameter(
      'limit',
      `limit is for pages of JSON. ${mediaType} holds every plant that matches.`,
    )
  }
  if (parameters.bom !== undefined && mediaType !== CSV) {
    throw invalidParameter('bom', `bom is for ${CSV} only.`)
  }
  if (parameters.bom !== undefined && !/^[01]$/.test(parameters.bom)) {
    throw invalidParameter('bom', 'bom must be 1 for a byte order mark, or 0 for none.')
  }
  return parameters
}

function filterIn({ after, tag, q }: ListParameters): PlantFilter {
  const filter: PlantFilter = {}
  if (after !== undefined) filter.afterId = afterIdIn(after)
  if (tag !== undefined) filter.tag = tag
  if (q !== undefined) filter.words = queryWords(q)
  return filter
}

function limitIn(text: string | undefined): number {
  if (text === undefined) return PAGE_PLANTS_DEFAULT
  if (!/^[1-9][0-9]*$/.test(text))
    throw invalidParameter('limit', 'limit must be a whole number of at least 1.')
  return Math.min(Number(text), PAGE_PLANTS_MAX)
}

function afterIdIn(text: string): bigint {
  const id = parseIdText(text)
  if (id === undefined) {
    throw invalidParameter('after', `after must be a whole decimal number from ${ID_MIN} to ${ID_MAX}.`)
  }
  return id
}
