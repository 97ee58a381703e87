import type { ExportFileOptions, ExportPlantsOptions } from './export-plants.ts'
import type { FileSource, PlantSource } from './import-body.ts'
import type { ImportFileOptions, ImportPlantsOptions } from './import-plants.ts'
import type { ListPlantsOptions, PlantList } from './list-plants.ts'
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
import type { CallOptions } from './send-request.ts'
import type { ListTagsOptions, RotateTokenOptions } from './service-requests.ts'

/**
 * Every operation of the service. Ids are `bigint` and exact, times are RFC 3339 text in UTC.
 *
 * A method throws a {@link RequestError} if its request fails. Absence is not a failure: `getPlant` returns
 * `undefined`, `deletePlant` and `revokeToken` return `false`.
 *
 * Transient failures are retried: a failed or lost connection, 429, 503, and a gateway's 502 and 504. Delays grow and
 * are random, or follow `Retry-After`. `triesMax` and `timeoutMs` limit them. Reads are always retried, creates with
 * their idempotency key, other writes only if that is safe; see each method.
 */
export interface PlantStoreClient {
  /**
   * Creates a plant. When this fulfils, the plant is on disk. A used id is rejected (code 40901); the stored plant is
   * unchanged. Retries send the same idempotency key, so a plant is never created twice. When all tries failed, the
   * error has the key for a later retry.
   */
  createPlant(plant: NewPlant, options?: CreatePlantOptions): Promise<CreatedPlant>

  /**
   * Returns the plant with this id, `undefined` if absent, or `'unchanged'` if it still has the ETag `ifNoneMatch`.
   */
  getPlant(
    id: bigint,
    options: GetPlantOptions & { ifNoneMatch: string },
  ): Promise<VersionedPlant | 'unchanged' | undefined>
  getPlant(
    id: bigint,
    options?: GetPlantOptions & { ifNoneMatch?: undefined },
  ): Promise<VersionedPlant | undefined>

  /**
   * Lists plants in the order of their ids, fetching pages as the loop needs them: `for await (const plant of
   * client.listPlants({ tag: 'palm' })) …`. Plants that are created or deleted meanwhile may or may not be included.
   * For all plants, `exportPlants` is faster and returns a snapshot.
   */
  listPlants(options?: ListPlantsOptions): PlantList

  /**
   * Replaces the plant with this id, or creates it. `ifMatch`: only if it still has this ETag. `ifNoneMatch: '*'`:
   * only if there is none. A failed precondition is code 41201. Conditional writes are retried only if the service
   * reports that it stored nothing: after a success, a retry would fail the precondition.
   */
  replacePlant(id: bigint, plant: Plant, options?: ReplacePlantOptions): Promise<ReplacedPlant>

  /**
   * Updates the given members; `tag: null` removes the tag. An absent plant is code 40402. `ifMatch` and retries as in
   * `replacePlant`.
   */
  updatePlant(id: bigint, change: PlantUpdate, options?: UpdatePlantOptions): Promise<VersionedPlant>

  /**
   * Deletes the plant with this id. Returns `false` if there was none, and `true` if a retry after a lost response
   * finds none. `ifMatch` and retries as in `replacePlant`.
   */
  deletePlant(id: bigint, options?: DeletePlantOptions): Promise<boolean>

  /**
   * Creates many plants from an array, a generator, or any other iterable, also asynchronous. With `format` it imports
   * a file (NDJSON or CSV): text, bytes, Blob or stream. The body is streamed; browsers first gather it in a Blob.
   * Failed rows are in the report; the other rows are stored. When it throws, the rows before `progress.line` of the
   * error are stored, and later ones may be: run it again with `onConflict: 'skip'`. It is sent in slices. A slice is
   * retried if nothing of it was stored, and after a lost response with `skip` or `replace`.
   */
  importPlants(file: FileSource, options: ImportFileOptions): Promise<ImportReport>
  importPlants(
    plants: PlantSource,
    options?: ImportPlantsOptions & { format?: undefined },
  ): Promise<ImportReport>

  /**
   * Streams a snapshot of all matching plants in the order of their ids: plants, or with `format` the bytes of a file.
   * An interrupted export throws, or the stream fails; what was received is incomplete. Each loop sends its own
   * request.
   */
  exportPlants(options: ExportFileOptions): Promise<ReadableStream<Uint8Array>>
  exportPlants(options?: ExportPlantsOptions & { format?: undefined }): AsyncIterable<StoredPlant>

  /** Requests an id that no plant has. Another program may use it first: `createPlant` then fails with code 40901. */
  getNextId(options?: CallOptions): Promise<bigint>

  /** Lists the tags and their number of plants, most used first. `limit`: 1 to 1000, by default 100. */
  listTags(options?: ListTagsOptions): Promise<TagCount[]>

  /**
   * Counts the stored plants by the day (UTC) of their creation, in order. The service counts at most once a minute,
   * or less often if a count takes long; `countedAt` is the time of the count.
   */
  countAdditions(options?: CallOptions): Promise<Additions>

  /** Lists all tokens without their secrets, oldest first. */
  listTokens(options?: CallOptions): Promise<Token[]>

  /**
   * Creates a token. Only this response has its secret. Retried only if the service reports that it stored nothing:
   * after a lost response, find the token in `listTokens` and revoke it.
   */
  createToken(token: NewToken, options?: CallOptions): Promise<CreatedToken>

  /**
   * Replaces the secret of the token with this id; `'self'` is the token in use. Only this response has the new
   * secret. The old one stays valid for `graceSeconds`. Retries as in `createToken`.
   */
  rotateToken(id: string, options?: RotateTokenOptions): Promise<CreatedToken>

  /** Revokes the token with this id. Returns `false` if there was none. Retries as in `deletePlant`. */
  revokeToken(id: string, options?: CallOptions): Promise<boolean>

  /** Returns the token in use, with its scopes. */
  getOwnToken(options?: CallOptions): Promise<Token>

  /** Fulfils if the process is up. Never retried. Requires no token. */
  getHealth(options?: CallOptions): Promise<void>

  /** Fulfils if the database responds and the service is not shutting down. Never retried. Requires no token. */
  getReadiness(options?: CallOptions): Promise<Readiness>
}
