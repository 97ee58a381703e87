import type { FastifyInstance, FastifyRequest } from 'fastify'
import { AppError } from '../../errors.ts'
import type { Operation } from '../../http/openapi.ts'
import { queryOf } from '../../http/request/query.ts'
import type { BodyReader } from '../../http/request/read-body.ts'
import { sendJson } from '../../http/response/responses.ts'
import {
  fingerprintOf,
  KEY_FIELD,
  KEY_FIELD_CHARACTERS_MAX,
  parseIdempotencyKey,
} from '../idempotency-key.ts'
import { entityTagOf, type NewPlant, parseNewPlant } from '../plant.ts'
import type { CreateOutcome, PlantStore } from '../plant-store.ts'

const createPlantOperation: Operation = {
  operationId: 'createPlant',
  summary: 'Create a plant',
  description:
    'A 200 response means the plant is on disk. If the id is already used, the stored plant is unchanged.',
  group: 'Plants',
  parameters: [
    {
      name: 'Idempotency-Key',
      in: 'header',
      description:
        'Makes a retry safe: the same key and body get the same response and create nothing more, for 24 hours by ' +
        'default. 1 to 255 printable ASCII characters, bare or in quotation marks.',
      schema: { type: 'string', maxLength: KEY_FIELD_CHARACTERS_MAX },
    },
  ],
  requestBody: {
    required: true,
    content: {
      'application/json': {
        schema: { $ref: '#/components/schemas/NewPlant' },
        examples: {
          tagged: { value: { id: 42, name: 'Quercus robur', tag: 'tree' } },
          untagged: { value: { id: 43, name: 'Medicago ×varia' } },
        },
      },
    },
  },
  responses: {
    200: {
      description: 'The plant is stored',
      headers: ['ETag', 'Location'],
      content: {
        'application/json': {
          schema: { $ref: '#/components/schemas/Plant' },
          example: { name: 'Quercus robur', tag: 'tree' },
        },
      },
    },
  },
  errors: [40001, 40002, 40003, 40901, 40902, 41301, 41501, 42201, 50701],
}

export interface CreateRouteOptions {
  plants: PlantStore
  body: BodyReader
  /** The path of the base URL, which prefixes every route: '' or '/prefix'. */
  basePath: string
}

export function registerCreateRoute(
  app: FastifyInstance,
  { plants, body, basePath }: CreateRouteOptions,
): void {
  const createOnce = onceAtATime(plants)
  app.route({
    method: 'POST',
    url: '/plants',
    config: { scope: 'plants:write', operation: createPlantOperation, rejectionsAre400: true },
    async handler(request, reply) {
      if (request.url.includes('?')) queryOf(request, [])
      const plant = parseNewPlant(await body.readJson(request, reply))
      request.stages?.enter('commit')
      const key = request.headers['idempotency-key']
      const created =
        key === undefined
          ? await plants.create(plant)
          : await createOnce(plant, request.caller.id, onlyKeyOf(request))
      if (created.outcome === 'taken') {
        throw new AppError(40901, `The id ${plant.id} is already used. Choose another.`, {
          details: { fields: [{ name: 'id', rule: 'unique' }] },
        })
      }
      if (created.outcome === 'key-reused') {
        throw new AppError(42201, undefined, { details: { parameter: KEY_FIELD } })
      }
      const { id, ...content } = plant
      const etag = entityTagOf(created.version)
      const location = `${basePath}/plants/${id}`
      sendJson(reply, 200, JSON.stringify(content), ['location', location, 'etag', etag])
    },
  })
}

/**
 * Creates with an idempotency key, one request per key at a time: throws 40902 while another one runs. The store would
 * treat the second as a retry of the first, which may yet fail.
 */
function onceAtATime(plants: PlantStore) {
  const running = new Set<string>()
  return async (plant: NewPlant, caller: string, field: string): Promise<CreateOutcome> => {
    const key = parseIdempotencyKey(field)
    const runningKey = `${caller} ${key}`
    if (running.has(runningKey)) throw new AppError(40902, undefined, { details: { parameter: KEY_FIELD } })
    running.add(runningKey)
    try {
      return await plants.create(plant, { caller, key, fingerprint: fingerprintOf(plant) })
    } finally {
      running.delete(runningKey)
    }
  }
}

/** The field of the key. Throws 40003 if it was sent more than once: which one counts is ambiguous. */
function onlyKeyOf({ raw }: FastifyRequest): string {
  const [field = '', ...others] = raw.headersDistinct['idempotency-key'] ?? []
  if (others.length > 0)
    throw new AppError(40003, 'Idempotency-Key must be sent once.', { details: { parameter: KEY_FIELD } })
  return field
}
