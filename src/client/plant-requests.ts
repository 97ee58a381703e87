import { idText, newPlantJson, plantJson, withExactId } from './exact-ids.ts'
import type { NewPlant, Plant, PlantUpdate, StoredPlant } from './plant-types.ts'
import { asObject, readResponse } from './read-response.ts'
import { amendError, RequestError } from './request-error.ts'
import type { CallOptions, Sender, ServiceRequest, ServiceResponse } from './send-request.ts'

export interface CreatePlantOptions extends CallOptions {
  /** 1 to 255 printable ASCII characters. Default: a new random key. */
  idempotencyKey?: string | undefined
}

export interface GetPlantOptions extends CallOptions {
  /** The ETag of your copy. */
  ifNoneMatch?: string | undefined
}

export interface UpdatePlantOptions extends CallOptions {
  /** Only if the plant still has this ETag. */
  ifMatch?: string | undefined
}

export interface ReplacePlantOptions extends UpdatePlantOptions {
  /** `*`: only if there is no such plant. */
  ifNoneMatch?: string | undefined
}

export interface DeletePlantOptions extends UpdatePlantOptions {}

/** A created plant and its version. */
export interface CreatedPlant extends NewPlant {
  etag: string
}

/** A plant and its version. `etag` changes with every write; pass it as `ifMatch` or `ifNoneMatch`. */
export interface VersionedPlant extends StoredPlant {
  etag: string
}

export interface ReplacedPlant extends VersionedPlant {
  /** Whether the plant was created. Also `false` if a first try created it and its response was lost. */
  isNew: boolean
}

export const JSON_TYPE = { 'content-type': 'application/json' }
const NO_SUCH_PLANT = 40402

export async function createPlant(
  sender: Sender,
  plant: NewPlant,
  { idempotencyKey = randomKey(), ...options }: CreatePlantOptions = {},
): Promise<CreatedPlant> {
  const request: ServiceRequest = {
    method: 'POST',
    path: '/plants',
    headers: { ...JSON_TYPE, 'idempotency-key': idempotencyKey },
    body: newPlantJson(plant),
  }
  try {
    return await sender.send(
      request,
      (response) => ({ ...readResponse(response, asObject<Plant>), id: plant.id, etag: etagOf(response) }),
      options,
    )
  } catch (error) {
    throw amendError(error, { idempotencyKey })
  }
}

export async function getPlant(
  sender: Sender,
  id: bigint,
  { ifNoneMatch, ...options }: GetPlantOptions = {},
): Promise<VersionedPlant | 'unchanged' | undefined> {
  try {
    return await sender.send(
      {
        path: pathOf(id),
        headers: conditions({ ifNoneMatch }),
        statuses: [200, 304],
      },
      (response) => (response.status === 304 ? 'unchanged' : plantIn(response, id)),
      options,
    )
  } catch (error) {
    absent(error, NO_SUCH_PLANT)
    return undefined
  }
}

export async function replacePlant(
  sender: Sender,
  id: bigint,
  plant: Plant,
  { ifMatch, ifNoneMatch, ...options }: ReplacePlantOptions = {},
): Promise<ReplacedPlant> {
  return sender.send(
    {
      method: 'PUT',
      path: pathOf(id),
      headers: { ...JSON_TYPE, ...conditions({ ifMatch, ifNoneMatch }) },
      body: plantJson(plant),
      statuses: [200, 201],
      retry: ifMatch === undefined && ifNoneMatch === undefined ? 'always' : 'nothing-stored',
    },
    (response) => ({ ...plantIn(response, id), isNew: response.status === 201 }),
    options,
  )
}

export async function updatePlant(
  sender: Sender,
  id: bigint,
  change: PlantUpdate,
  { ifMatch, ...options }: UpdatePlantOptions = {},
): Promise<VersionedPlant> {
  return sender.send(
    {
      method: 'PATCH',
      path: pathOf(id),
      headers: { 'content-type': 'application/merge-patch+json', ...conditions({ ifMatch }) },
      body: plantJson(change),
      retry: ifMatch === undefined ? 'always' : 'nothing-stored',
    },
    (response) => plantIn(response, id),
    options,
  )
}

export async function deletePlant(
  sender: Sender,
  id: bigint,
  options?: DeletePlantOptions,
): Promise<boolean> {
  return remove(sender, pathOf(id), NO_SUCH_PLANT, options)
}

/** Deletes the resource at the path. `code` is the error code of its absence. */
export async function remove(
  sender: Sender,
  path: string,
  code: number,
  { ifMatch, ...options }: DeletePlantOptions = {},
): Promise<boolean> {
  try {
    return await sender.send(
      {
        method: 'DELETE',
        path,
        headers: conditions({ ifMatch }),
        statuses: [204],
        retry: ifMatch === undefined ? 'always' : 'nothing-stored',
      },
      () => true,
      options,
    )
  } catch (error) {
    // An earlier try, whose response was lost, may have deleted it.
    return absent(error, code).isOutcomeUnknown
  }
}

/** Returns the error if it has that code, and throws any other. */
function absent(error: unknown, code: number): RequestError {
  if (error instanceof RequestError && error.code === code) return error
  throw error
}

function pathOf(id: bigint): string {
  return `/plants/${idText(id)}`
}

function conditions({ ifMatch, ifNoneMatch }: ReplacePlantOptions): Record<string, string> {
  // An empty field would not be a condition.
  if (ifMatch === '' || ifNoneMatch === '') throw new TypeError('an ETag must not be empty')
  return {
    ...(ifMatch !== undefined && { 'if-match': ifMatch }),
    ...(ifNoneMatch !== undefined && { 'if-none-match': ifNoneMatch }),
  }
}

function plantIn(response: ServiceResponse<string>, id: bigint): VersionedPlant {
  return readResponse(response, (parsed) => {
    const plant = withExactId<StoredPlant>(asObject(parsed))
    if (plant.id !== id) throw new TypeError('another plant')
    return { ...plant, etag: etagOf(response) }
  })
}

/** The ETag as the service sent it: a proxy that compresses makes it weak, and the same version has one ETag. */
function etagOf({ headers }: ServiceResponse<string>): string {
  return (headers.get('etag') ?? '').replace(/^W\//, '')
}

/** 128 random bits. Pages have `randomUUID` only over HTTPS. */
function randomKey(): string {
  return crypto.getRandomValues(new Uint32Array(4)).join('-')
}
