import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { AppError, invalidParameter } from '../../errors.ts'
import { queryOf } from '../../http/request/query.ts'
import type { BodyReader } from '../../http/request/read-body.ts'
import { sendEmpty, sendJson } from '../../http/response/responses.ts'
import { entityTagOf, preconditionOf } from '../entity-tags.ts'
import { fingerprintOf, KEY_FIELD, parseIdempotencyKey } from '../idempotency-key.ts'
import {
  ID_MAX,
  ID_MIN,
  type NewPlant,
  parseIdText,
  parseNewPlant,
  parsePlant,
  parsePlantUpdate,
  type StoredPlant,
} from '../plant.ts'
import { plantContentJson, storedPlantJson } from '../plant-json.ts'
import { type CreateOutcome, type PlantStore, preconditionHolds } from '../plant-store.ts'
import {
  createPlantOperation,
  deletePlantOperation,
  getPlantOperation,
  replacePlantOperation,
  updatePlantOperation,
} from './plant-operations.ts'
import { readOptionsOf } from './read-options.ts'

export interface PlantRoutesOptions {
  plants: PlantStore
  body: BodyReader
  /** The path of the base URL, before every path that is answered: '' or '/prefix'. */
  basePath: string
}

type WithId = { Params: { id: string } }

const MERGE_PATCH_TYPES = ['application/merge-patch+json', 'application/json']

export function registerPlantRoutes(app: FastifyInstance, parts: PlantRoutesOptions): void {
  addCreateRoute(app, parts)
  addGetRoute(app, parts)
  addReplaceRoute(app, parts)
  addUpdateRoute(app, parts)
  addDeleteRoute(app, parts)
}

function addCreateRoute(app: FastifyInstance, { plants, body, basePath }: PlantRoutesOptions): void {
  const createOnce = onceAtATime(plants)
  app.route({
    method: 'POST',
    url: '/plants',
    config: { scope: 'plants:write', operation: createPlantOperation, rejectionsAre400: true },
    async handler(request, reply) {
      queryOf(request, [])
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
      const etag = entityTagOf(created.version)
      const location = `${basePath}/plants/${plant.id}`
      sendJson(reply, 200, plantContentJson(plant), ['location', location, 'etag', etag])
    },
  })
}

function addGetRoute(app: FastifyInstance, { plants }: PlantRoutesOptions): void {
  app.route<WithId>({
    method: 'GET',
    url: '/plants/:id',
    config: { scope: 'plants:read', operation: getPlantOperation },
    async handler(request, reply) {
      const id = idIn(request)
      request.stages?.enter('read')
      const plant = await plants.get(id, readOptionsOf(request))
      if (plant === undefined) throw noSuchPlant(id)
      const { ifMatch, ifNoneMatch } = preconditionOf(request.headers)
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

function addReplaceRoute(app: FastifyInstance, { plants, body, basePath }: PlantRoutesOptions): void {
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

function addUpdateRoute(app: FastifyInstance, { plants, body }: PlantRoutesOptions): void {
  app.route<WithId>({
    method: 'PATCH',
    url: '/plants/:id',
    config: { scope: 'plants:write', operation: updatePlantOperation },
    async handler(request, reply) {
      const id = idIn(request)
      const change = parsePlantUpdate(await body.readJson(request, reply, MERGE_PATCH_TYPES), id)
      request.stages?.enter('commit')
      const changed = await plants.update(id, change, preconditionOf(request.headers))
      if (changed.outcome === 'updated') sendPlant(reply, 200, changed.plant)
      else throw changed.outcome === 'absent' ? noSuchPlant(id) : preconditionFailed(request)
    },
  })
}

function addDeleteRoute(app: FastifyInstance, { plants }: PlantRoutesOptions): void {
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

/**
 * Creates with an idempotency key, one request a key at a time: throws 40902 while another one runs. The
 * store would answer the second as a repetition of the first; but only when the first has succeeded is it
 * one.
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

/** The field of the key, which may be sent once: two arrive joined, and which of them would count? */
function onlyKeyOf({ raw }: FastifyRequest): string {
  const [field = '', ...others] = raw.headersDistinct['idempotency-key'] ?? []
  if (others.length > 0)
    throw new AppError(40003, 'Idempotency-Key must be sent once.', { details: { parameter: KEY_FIELD } })
  return field
}

/** The id in the path of a request, which has no query. Throws 40004. */
function idIn(request: FastifyRequest<WithId>): bigint {
  const id = parseIdText(request.params.id)
  if (id === undefined) {
    throw invalidParameter(
      'id',
      `The id in the path must be a whole decimal number from ${ID_MIN} to ${ID_MAX}, such as 42 or -7.`,
    )
  }
  queryOf(request, [])
  return id
}

/** 41201. Of two preconditions If-Match is named, which is evaluated first (RFC 9110 §13.2.2). */
function preconditionFailed({ headers }: FastifyRequest): AppError {
  const parameter = headers['if-match'] === undefined ? 'If-None-Match' : 'If-Match'
  return new AppError(41201, undefined, { details: { parameter } })
}

function noSuchPlant(id: bigint): AppError {
  return new AppError(40402, `There is no plant with the id ${id}.`)
}

function sendPlant(reply: FastifyReply, status: number, plant: StoredPlant, fields: string[] = []): void {
  sendJson(reply, status, storedPlantJson(plant), ['etag', entityTagOf(plant.version), ...fields])
}
