import { idText, newPlantJson, plantJson, withExactId } from './exact-ids.ts'
import type { NewPlant, Plant, PlantUpdate, StoredPlant } from './plant-types.ts'
import { asObject, readResponse } from './read-answer.ts'
import { RequestError, withDetails } from './request-error.ts'
import type { Answer, CallOptions, Sender, ServiceRequest } from './send-request.ts'

export interface CreatePlantOptions extends CallOptions {
  /** 1 to 255 printable ASCII characters; a new one by chance unless given. */
  idempotencyKey?: string | undefined
}

export interface GetPlantOptions extends CallOptions {
  /** The ETag that is known already. */
  ifNoneMatch?: string | undefined
}

export interface UpdatePlantOptions extends CallOptions {
  /** Only if the plant still has this ETag. */
  ifMatch?: string | undefined
}

export interface ReplacePlantOptions extends UpdatePlantOptions {
  /** `*`: only if there is no such plant yet. */
  ifNoneMatch?: string | undefined
}

export interface DeletePlantOptions extends UpdatePlantOptions {}

/** A plant that was added, as it was given, and its version. */
export interface CreatedPlant extends NewPlant {
  etag: string
}

/** A plant and its version: `etag` is another one after every write, and goes into `ifMatch` and `ifNoneMatch`. */
export interface VersionedPlant extends StoredPlant {
  etag: string
}

export interface ReplacedPlant extends VersionedPlant {
  /** Whether there was no such plant before. After a lost answer it may be `false` where the first try added it. */
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
      (answer) => ({ ...readResponse(answer, asObject<Plant>), id: plant.id, etag: etagOf(answer) }),
      options,
    )
  } catch (error) {
    throw withDetails(error, { idempotencyKey })
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
      (answer) => (answer.status === 304 ? 'unchanged' : plantIn(answer, id)),
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
      repeat: ifMatch === undefined && ifNoneMatch === undefined ? 'always' : 'refused',
    },
    (answer) => ({ ...plantIn(answer, id), isNew: answer.status === 201 }),
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
      repeat: ifMatch === undefined ? 'always' : 'refused',
    },
    (answer) => plantIn(answer, id),
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

/** Deletes what is at the path; `code` is that of the error where there is nothing. */
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
        repeat: ifMatch === undefined ? 'always' : 'refused',
      },
      () => true,
      options,
    )
  } catch (error) {
    // It is not there: maybe as an earlier try, whose answer was lost, has deleted it.
    return absent(error, code).isOutcomeUnknown
  }
}

/** The error, where it says with that code that something is not there. Throws any other one. */
function absent(error: unknown, code: number): RequestError {
  if (error instanceof RequestError && error.code === code) return error
  throw error
}

function pathOf(id: bigint): string {
  return `/plants/${idText(id)}`
}

function conditions({ ifMatch, ifNoneMatch }: ReplacePlantOptions): Record<string, string> {
  // An empty field is no condition at all, and never meant to be none.
  if (ifMatch === '' || ifNoneMatch === '') throw new TypeError('an ETag is not empty')
  return {
    ...(ifMatch !== undefined && { 'if-match': ifMatch }),
    ...(ifNoneMatch !== undefined && { 'if-none-match': ifNoneMatch }),
  }
}

function plantIn(answer: Answer<string>, id: bigint): VersionedPlant {
  return readResponse(answer, (parsed) => {
    const plant = withExactId<StoredPlant>(asObject(parsed))
    if (plant.id !== id) throw new TypeError('another plant')
    return { ...plant, etag: etagOf(answer) }
  })
}

function etagOf({ headers }: Answer<string>): string {
  return headers.get('etag') ?? ''
}

/** 128 bits by chance. Not randomUUID, which pages have only where they come over HTTPS. */
function randomKey(): string {
  return crypto.getRandomValues(new Uint32Array(4)).join('-')
}
