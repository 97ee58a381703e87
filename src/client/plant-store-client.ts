import { clientMethods } from './client-methods.ts'
import type { ExportFileOptions, ExportPlantsOptions, FileFormat } from './export-plants.ts'
import type { FileSource, PlantSource } from './import-body.ts'
import type { ImportFileOptions, ImportPlantsOptions, ImportRowError } from './import-plants.ts'
import type { ListPlantsOptions, PlantFilter, PlantList } from './list-plants.ts'
import type {
  CreatedPlant,
  CreatePlantOptions,
  DeletePlantOptions,
  GetPlantOptions,
  ReplacedPlant,
  ReplacePlantOptions,
  UpdatePlantOptions,
  VersionedPlant,
} from './plant-requests.ts'
import type {
  Additions,
  CreatedToken,
  DayCount,
  ImportReport,
  NewPlant,
  NewToken,
  Plant,
  PlantUpdate,
  Readiness,
  StoredPlant,
  TagCount,
  Token,
} from './plant-types.ts'
import type { ImportProgress, RequestErrorKind } from './request-error.ts'
import { RequestError } from './request-error.ts'
import type { CallOptions } from './send-request.ts'
import { createSender } from './send-request.ts'
import type { ListTagsOptions, RotateTokenOptions, Scope } from './service-requests.ts'
import { positive } from './time-limit.ts'

// What a program may name.
export type {
  Additions,
  CallOptions,
  CreatedPlant,
  CreatedToken,
  CreatePlantOptions,
  DayCount,
  DeletePlantOptions,
  ExportFileOptions,
  ExportPlantsOptions,
  FileFormat,
  FileSource,
  GetPlantOptions,
  ImportFileOptions,
  ImportPlantsOptions,
  ImportProgress,
  ImportReport,
  ImportRowError,
  ListPlantsOptions,
  ListTagsOptions,
  NewPlant,
  NewToken,
  Plant,
  PlantFilter,
  PlantList,
  PlantSource,
  PlantUpdate,
  Readiness,
  ReplacedPlant,
  ReplacePlantOptions,
  RequestErrorKind,
  RotateTokenOptions,
  Scope,
  StoredPlant,
  TagCount,
  Token,
  UpdatePlantOptions,
  VersionedPlant,
}
export { RequestError }

export interface PlantStoreClientOptions {
  /** Where the service is, with the path before its routes if it has one: `https://example.org/garden`. */
  baseUrl: string | URL
  /** The bearer token; a function is asked before every request, and may be asynchronous. */
  token?: string | (() => string | Promise<string>) | undefined
  /**
   * How long a call may take, with all its tries, in milliseconds: 30,000 by default, `Infinity` for no limit. Of
   * imports and exports it is the longest time in which nothing moves, of lists the time for a page.
   */
  timeoutMs?: number | undefined
  /** How often a call is tried at most: 5 by default, 1 for no retries. */
  triesMax?: number | undefined
  /** Another `fetch`, one that goes through a proxy, say. */
  fetch?: typeof globalThis.fetch | undefined
}

/**
 * Every operation of the service. Ids are `bigint`, exact on the wire; times are RFC 3339 text in UTC.
 *
 * A method throws a {@link RequestError} when its request fails. What is absent is no failure where one asks for
 * it: `getPlant` gives `undefined`, `deletePlant` and `revokeToken` give `false`.
 *
 * What fails for a moment is tried again: a connection that cannot be made or is lost, 429, 503, and a gateway's
 * 502 and 504; each time after a longer wait, a random one, or after what `Retry-After` asks for; as long as
 * `triesMax` and `timeoutMs` allow. Reads are repeated freely, creates with their idempotency key, and other writes
 * as far as it does no harm; see each method.
 */
export interface PlantStoreClient {
  /**
   * Adds a plant; it is on disk when this fulfils. An id that is taken is refused (code 40901) and the stored plant
   * unchanged. Safe to retry: the request has an idempotency key, one of its own unless `idempotencyKey` is given,
   * so that a plant is never added twice. When all tries failed, the error tells the key, to try on with.
   */
  createPlant(plant: NewPlant, options?: CreatePlantOptions): Promise<CreatedPlant>

  /** The plant of that id; `undefined` when there is none, `'unchanged'` when it still has the ETag `ifNoneMatch`. */
  getPlant(
    id: bigint,
    options: GetPlantOptions & { ifNoneMatch: string },
  ): Promise<VersionedPlant | 'unchanged' | undefined>
  getPlant(
    id: bigint,
    options?: GetPlantOptions & { ifNoneMatch?: undefined },
  ): Promise<VersionedPlant | undefined>

  /**
   * Plants in the order of their ids, page by page as the loop needs them:
   * `for await (const plant of client.listPlants({ tag: 'palm' })) …`. A plant that is added or deleted meanwhile is
   * seen or not. All of a large store come faster, and as they were at one moment, from `exportPlants`.
   */
  listPlants(options?: ListPlantsOptions): PlantList

  /**
   * Replaces the plant of that id, or adds it. With `ifMatch`, only if it still has that ETag, with
   * `ifNoneMatch: '*'` only if there is none; otherwise code 41201. With such a condition it is retried only where
   * the service says that it did nothing: else its own success could look like a conflict.
   */
  replacePlant(id: bigint, plant: Plant, options?: ReplacePlantOptions): Promise<ReplacedPlant>

  /**
   * Changes the members that are given; `tag: null` removes the tag. Code 40402 where there is no such plant.
   * `ifMatch` and retries as with `replacePlant`.
   */
  updatePlant(id: bigint, change: PlantUpdate, options?: UpdatePlantOptions): Promise<VersionedPlant>

  /**
   * Deletes the plant of that id; `false` when there was none. Where an answer was lost, and the next try finds
   * none, it is `true`. `ifMatch` and retries as with `replacePlant`.
   */
  deletePlant(id: bigint, options?: DeletePlantOptions): Promise<boolean>

  /**
   * Adds many plants: an array, a generator, anything that can be looped over, also asynchronously; or with `format`
   * a file (NDJSON or CSV), as text, bytes, Blob or stream. It is sent as it comes and never held as a whole (in
   * browsers it is, as a Blob). A row that is refused is told in the report, and the others are stored. When it throws,
   * the rows before `progress.line` of the error are stored, and some behind it may be. It is never retried by
   * itself: run it again with `onConflict: 'skip'`.
   */
  importPlants(file: FileSource, options: ImportFileOptions): Promise<ImportReport>
  importPlants(
    plants: PlantSource,
    options?: ImportPlantsOptions & { format?: undefined },
  ): Promise<ImportReport>

  /**
   * All plants that match, in the order of their ids, as they were at one moment; never held as a whole. Without
   * `format` the plants, to be looped over; with it the bytes of a file, a stream. An export that is cut throws, or
   * makes the stream fail: what was read until then is not whole. Each loop over it asks anew.
   */
  exportPlants(options: ExportFileOptions): Promise<ReadableStream<Uint8Array>>
  exportPlants(options?: ExportPlantsOptions & { format?: undefined }): AsyncIterable<StoredPlant>

  /** The tags in use and how many plants have each, the most used first; 100 at most, or `limit` (up to 1000). */
  listTags(options?: ListTagsOptions): Promise<TagCount[]>

  /**
   * How many of the plants that there are were added on each day (UTC), in order. The service counts at most once a
   * minute, and less often where it takes long; `countedAt` tells when.
   */
  countAdditions(options?: CallOptions): Promise<Additions>

  /** All tokens, without what is secret of them, the oldest first. */
  listTokens(options?: CallOptions): Promise<Token[]>

  /**
   * Makes a token. The answer is the only one that tells it. It is retried only where the service says that it did
   * nothing: after a lost answer, look into `listTokens` and revoke what nobody knows.
   */
  createToken(token: NewToken, options?: CallOptions): Promise<CreatedToken>

  /**
   * Gives the token of that id a new secret, which this answer alone tells; `'self'` is the token in use. The one
   * that it replaces goes on for `graceSeconds`. Retries as with `createToken`.
   */
  rotateToken(id: string, options?: RotateTokenOptions): Promise<CreatedToken>

  /** Revokes the token of that id; `false` when there was none. Retries as with `deletePlant`. */
  revokeToken(id: string, options?: CallOptions): Promise<boolean>

  /** What the token in use may do. */
  getOwnToken(options?: CallOptions): Promise<Token>

  /** Fulfils when the process is up. Never retried; needs no token. */
  getHealth(options?: CallOptions): Promise<void>

  /** Fulfils when the storage answers and the service is not shutting down. Never retried; needs no token. */
  getReadiness(options?: CallOptions): Promise<Readiness>
}

const TIMEOUT_MS_DEFAULT = 30_000
const TRIES_MAX_DEFAULT = 5

/** A client of the service at `baseUrl`. Opens nothing yet. Throws a TypeError for a base URL or number that is none. */
export function createPlantStoreClient(options: PlantStoreClientOptions): PlantStoreClient {
  const { token, timeoutMs = TIMEOUT_MS_DEFAULT, triesMax = TRIES_MAX_DEFAULT } = options
  const sender = createSender({
    baseUrl: baseUrlOf(options.baseUrl),
    token,
    timeoutMs: positive('timeoutMs', timeoutMs),
    triesMax: positive('triesMax', triesMax),
    fetch: options.fetch ?? ((...request) => globalThis.fetch(...request)),
  })
  return clientMethods(sender)
}

function baseUrlOf(baseUrl: string | URL): string {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined
  // Also a query or fragment that is empty.
  if (!url || !/^https?:[^?#]+$/.test(url.href) || url.username || url.password) {
    throw new TypeError('baseUrl must be http(s)://, a host and maybe a path, such as http://127.0.0.1:8080')
  }
  return url.href.replace(/\/+$/, '')
}
