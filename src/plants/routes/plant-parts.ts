import type { FastifyReply, FastifyRequest } from 'fastify'
import { AppError, invalidParameter } from '../../errors.ts'
import { queryOf } from '../../http/request/query.ts'
import { sendJson } from '../../http/response/responses.ts'
import { entityTagOf, ID_MAX, ID_MIN, parseIdText, type StoredPlant } from '../plant.ts'
import { storedPlantJson } from '../plant-json.ts'

// Shared by the routes of one plant.

export type WithId = { Params: { id: string } }

export const STORED_EXAMPLE = {
  id: 42,
  name: 'Quercus robur',
  tag: 'tree',
  createdAt: '2026-04-01T08:30:00.000Z',
  updatedAt: '2026-04-01T08:30:00.000Z',
}

const EXAMPLE_ID = 9007199254740993n

export const ID_IN_PATH = {
  name: 'id',
  in: 'path',
  required: true,
  description: `A 64-bit decimal integer, such as 42 or ${EXAMPLE_ID}`,
  schema: { type: 'integer', format: 'int64' },
  example: 42,
}

export const IF_MATCH = {
  name: 'If-Match',
  in: 'header',
  description:
    'Proceed only if the current ETag of the plant is one of these; `*` means only if the plant exists',
  schema: { type: 'string' },
}

export const IF_NONE_MATCH = {
  name: 'If-None-Match',
  in: 'header',
  description:
    'Proceed only if the current ETag of the plant is not one of these; `*` means only if the plant does not exist',
  schema: { type: 'string' },
}

export const STORED_PLANT = {
  'application/json': { schema: { $ref: '#/components/schemas/StoredPlant' }, example: STORED_EXAMPLE },
}

/** The id in the path of a request. Throws 40004 for an invalid one, and for a query. */
export function idIn(request: FastifyRequest<WithId>): bigint {
  const id = parseIdText(request.params.id)
  if (id === undefined) {
    throw invalidParameter(
      'id',
      `The id in the path must be an integer from ${ID_MIN} to ${ID_MAX}, such as 42 or -7.`,
    )
  }
  queryOf(request, [])
  return id
}

/** 41201. Of two preconditions it names If-Match, which is evaluated first (RFC 9110 §13.2.2). */
export function preconditionFailed({ headers }: FastifyRequest): AppError {
  const parameter = headers['if-match'] === undefined ? 'If-None-Match' : 'If-Match'
  return new AppError(41201, undefined, { details: { parameter } })
}

export function noSuchPlant(id: bigint): AppError {
  return new AppError(40402, `There is no plant with the id ${id}.`)
}

export function sendPlant(
  reply: FastifyReply,
  status: number,
  plant: StoredPlant,
  fields: string[] = [],
): void {
  sendJson(reply, status, storedPlantJson(plant), ['etag', entityTagOf(plant.version), ...fields])
}
