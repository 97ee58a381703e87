import type { FastifyInstance, FastifyRequest } from 'fastify'
import { invalidParameter } from '../../errors.ts'
import type { Operation } from '../../http/openapi.ts'
import { preferredMediaType } from '../../http/request/accept.ts'
import { queryOf } from '../../http/request/query.ts'
import type { SendLongJson } from '../../http/response/compression.ts'
import type { HeaderList } from '../../http/response/responses.ts'
import { CSV, NDJSON } from '../import/import-parameters.ts'
import { ID_MAX, ID_MIN, parseIdText } from '../plant.ts'
import { storedPlantJson } from '../plant-json.ts'
import { queryWords } from '../plant-search.ts'
import type { PlantFilter, PlantPage, PlantQuery, PlantStore } from '../plant-store.ts'
import { type ExportRouteOptions, sendExport } from './export.ts'
import { LIMIT, limitIn } from './limit.ts'
import { STORED_EXAMPLE } from './plant-parts.ts'
import { readOptionsOf } from './read-options.ts'

/** Without a default: the form of the API reference would send it with an export, which has no limit. */
const PAGE_LIMIT = {
  ...LIMIT,
  description:
    'JSON only: the maximum number of plants. Default: 100. A larger value than 1000 is lowered to 1000.',
  schema: { type: 'integer', format: 'int32', minimum: 1 },
}

const listPlantsOperation: Operation = {
  operationId: 'listPlants',
  summary: 'List and search plants',
  description:
    'Plants are ordered by id. If there are more, the Link field of the response names the next page. A page of very ' +
    'long names has fewer plants than `limit`. A search finds a plant once its name is indexed: usually within ' +
    'milliseconds, under load within seconds.\n\n' +
    'With `Accept: application/x-ndjson` or `text/csv` the response is an export: a snapshot of all matching ' +
    'plants. NDJSON has one StoredPlant per line, CSV the columns id, name, tag, createdAt and updatedAt. An export ' +
    'that fails drops the connection before the end of the response. In CSV an absent tag is an empty cell and an ' +
    'empty tag is `""`; most CSV readers do not distinguish them. Cells are not escaped for spreadsheets.',
  group: 'Plants',
  parameters: [
    PAGE_LIMIT,
    {
      name: 'after',
      in: 'query',
      description: 'Only plants with a greater id',
      schema: { type: 'integer', format: 'int64' },
    },
    {
      name: 'bom',
      in: 'query',
      description:
        'CSV only: 1 starts the table with a byte order mark, so that spreadsheets read it as UTF-8',
      schema: { type: 'integer', enum: [0, 1] },
    },
    {
      name: 'tag',
      in: 'query',
      description: 'Only plants with exactly this tag',
      schema: { type: 'string' },
    },
    {
      name: 'q',
      in: 'query',
      description:
        'Only plants whose name contains each of these words, or words that begin with them (`querc rob`). Case, ' +
        'accents and punctuation are ignored, and × equals x.',
      schema: { type: 'string' },
    },
  ],
  responses: {
    200: {
      description: 'A page of plants, or an export of all of them',
      headers: ['Link'],
      content: {
        'application/json': {
          schema: { type: 'array', items: { $ref: '#/components/schemas/StoredPlant' } },
          example: [STORED_EXAMPLE],
        },
        'application/x-ndjson': {
          schema: { type: 'string', description: 'NDJSON: each line is a StoredPlant' },
          example: `${JSON.stringify(STORED_EXAMPLE)}\n`,
        },
        'text/csv': {
          schema: { type: 'string', description: 'CSV (RFC 4180), with a header row' },
          example:
            'id,name,tag,createdAt,updatedAt\r\n' +
            '42,Quercus robur,tree,2026-04-01T08:30:00.000Z,2026-04-01T08:30:00.000Z\r\n',
        },
      },
    },
  },
}

export interface ListRouteOptions extends ExportRouteOptions {
  plants: PlantStore
  sendLongJson: SendLongJson
  /** The base URL without a slash at its end, for links; only its path if it is not set: '' or '/prefix'. */
  linkBase: string
}

type ListParameters = Partial<Record<'limit' | 'after' | 'tag' | 'q' | 'bom', string>>

export function registerListRoute(
  app: FastifyInstance,
  { sendLongJson, linkBase, ...options }: ListRouteOptions,
): void {
  const { plants } = options
  app.route({
    method: 'GET',
    url: '/plants',
    config: { scope: 'plants:read', operation: listPlantsOperation },
    async handler(request, reply) {
      const accepted = preferredMediaType(request.headers.accept, ['application/json', NDJSON, CSV])
      if (accepted === NDJSON || accepted === CSV) {
        const parameters = exportParametersOf(request, accepted)
        const format = accepted === NDJSON ? 'ndjson' : parameters.bom === '1' ? 'csv-with-mark' : 'csv'
        await sendExport(request, reply, filterIn(parameters), format, options)
        return
      }
      const parameters = queryOf(request, ['limit', 'after', 'tag', 'q'])
      const query: PlantQuery = { ...filterIn(parameters), limit: limitIn(parameters.limit) }
      request.stages?.enter('read')
      const page = await plants.list(query, readOptionsOf(request))
      const { json, fields } = pageResponse(page, parameters, linkBase)
      await sendLongJson(request, reply, json, fields)
    },
  })
}

/**
 * Takes the plants out of the page. Page and handler are as old as the request was queued, and the collector would keep
 * young objects for as long as what refers to them: it cost a third of a list.
 */
function pageResponse(
  page: PlantPage,
  parameters: ListParameters,
  linkBase: string,
): { json: string; fields: HeaderList } {
  const { plants, hasMore } = page
  page.plants = []
  const last = plants.at(-1)
  const fields = ['vary', 'Accept']
  if (hasMore && last !== undefined) {
    const next = new URLSearchParams({ ...parameters, after: last.id.toString() })
    fields.push('link', `<${linkBase}/plants?${next}>; rel="next"`)
  }
  return { json: `[${plants.map(storedPlantJson).join(',')}]`, fields }
}

/** The query of an export. Throws 40004 for `limit`, which only pages have, and for `bom` in NDJSON. */
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

function afterIdIn(text: string): bigint {
  const id = parseIdText(text)
  if (id === undefined) {
    throw invalidParameter('after', `after must be an integer from ${ID_MIN} to ${ID_MAX}.`)
  }
  return id
}
