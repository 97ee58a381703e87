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
 * A method throws a {@link RequestError} when its request fails. Absence is not a failure: `getPlant` returns
 * `undefined`, `deletePlant` and `revokeToken` return `false`.
 *
 * Transient failures are retried: no or a lost connection, 429, 503, and 502 and 504 of a gateway. Delays are random
 * and grow, or follow `Retry-After`, within `triesMax` and `timeoutMs`. Reads are always retried, creates with their
 * idempotency key, other writes as long as it is safe; see each method.
 */
export interface PlantStoreClient {
  /**
   * Creates a plant. It is on disk when this fulfils. A used id is rejected (code 40901), and the stored plant is
   * unchanged. Retried safely: the request has an idempotency key, so a plant is never created twice. When all tries
   * failed, the error has the key for a later retry.
   */
  createPlant(plant: NewPlant, options?: CreatePlantOptions): Promise<CreatedPlant>

  /** The plant of that id. `undefined` when there is none, `'unchanged'` when it still has the ETag `ifNoneMatch`. */
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
   * `for await (const plant of client.listPlants({ tag: 'palm' })) …`. A plant that is created or deleted meanwhile
   * may be included or not. For all plants, `exportPlants` is faster and a snapshot.
   */
  listPlants(options?: ListPlantsOptions): PlantList

  /**
   * Replaces the plant of that id, or creates it. `ifMatch`: only if it still has that ETag. `ifNoneMatch: '*'`: only
   * if there is none. Otherwise the code is 41201. With a condition it is retried only when the service says that it
   * stored nothing, because its own success would fail the condition.
   */
  replacePlant(id: bigint, plant: Plant, options?: ReplacePlantOptions): Promise<ReplacedPlant>

  /**
   * Updates the given members; `tag: null` removes the tag. Code 40402 when there is no such plant. `ifMatch` and
   * retries as with `replacePlant`.
   */
  updatePlant(id: bigint, change: PlantUpdate, options?: UpdatePlantOptions): Promise<VersionedPlant>

  /**
   * Deletes the plant of that id. `false` when there was none; `true` when a retry after a lost response finds none.
   * `ifMatch` and retries as with `replacePlant`.
   */
  deletePlant(id: bigint, options?: DeletePlantOptions): Promise<boolean>

  /**
   * Creates many plants from an array, a generator, or any other iterable, also asynchronous. With `format` from a
   * file (NDJSON or CSV): text, bytes, Blob or stream. It is streamed, and in browsers first gathered in a Blob. Failed
   * rows are in the report, and the others are stored. When it throws, the rows before `progress.line` of the error are
   * stored, and later ones may be. It is never retried: run it again with `onConflict: 'skip'`.
   */
  importPlants(file: FileSource, options: ImportFileOptions): Promise<ImportReport>
  importPlants(
    plants: PlantSource,
    options?: ImportPlantsOptions & { format?: undefined },
  ): Promise<ImportReport>

  /**
   * All matching plants in the order of their ids, as a snapshot, streamed. Without `format` the plants, with it the
   * bytes of a file. An export that is interrupted throws, or makes the stream fail: it is then incomplete. Each loop
   * sends its own request.
   */
  exportPlants(options: ExportFileOptions): Promise<ReadableStream<Uint8Array>>
  exportPlants(options?: ExportPlantsOptions & { format?: undefined }): AsyncIterable<StoredPlant>

  /** The tags in use with their number of plants, the most used first: 100 at most, or `limit` (up to 1000). */
  listTags(options?: ListTagsOptions): Promise<TagCount[]>

  /**
   * How many of the stored plants were created on each day (UTC), in order. The service counts at most once a minute,
   * and less often when it takes long; `countedAt` is the time of the count.
   */
  countAdditions(options?: CallOptions): Promise<Additions>

  /** All tokens without their secrets, the oldest first. */
  listTokens(options?: CallOptions): Promise<Token[]>

  /**
   * Creates a token, which is in this response only. It is retried only when the service says that it stored nothing:
   * after a lost response, find it in `listTokens` and revoke it.
   */
  createToken(token: NewToken, options?: CallOptions): Promise<CreatedToken>

  /**
   * Gives the token of that id a new secret, which is in this response only; `'self'` is the token in use. The old
   * secret stays valid for `graceSeconds`. Retries as with `createToken`.
   */
  rotateToken(id: string, options?: RotateTokenOptions): Promise<CreatedToken>

  /** Revokes the token of that id. `false` when there was none. Retries as with `deletePlant`. */
  revokeToken(id: string, options?: CallOptions): Promise<boolean>

  /** The token in use, with its scopes. */
  getOwnToken(options?: CallOptions): Promise<Token>

  /** Fulfils when the process is up. Never retried. Requires no token. */
  getHealth(options?: CallOptions): Promise<void>

  /** Fulfils when the database responds and the service is not shutting down. Never retried. Requires no token. */
  getReadiness(options?: CallOptions): Promise<Readiness>
}
