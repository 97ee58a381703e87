import type { PlantStoreClient } from './client-interface.ts'
import { clientMethods } from './client-methods.ts'
import { ERROR_CODES, type ErrorCode } from './error-codes.ts'
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
  ErrorDetails,
  FieldError,
  ImportCounts,
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
import { PLANT_MEMBERS } from './plant-types.ts'
import type { ImportProgress, RequestErrorKind } from './request-error.ts'
import { RequestError } from './request-error.ts'
import type { CallOptions } from './send-request.ts'
import { createSender } from './send-request.ts'
import type { ListTagsOptions, RotateTokenOptions, Scope } from './service-requests.ts'
import { positive } from './time-limit.ts'

// The types of the interface.
export type {
  Additions,
  CallOptions,
  CreatedPlant,
  CreatedToken,
  CreatePlantOptions,
  DayCount,
  DeletePlantOptions,
  ErrorCode,
  ErrorDetails,
  ExportFileOptions,
  ExportPlantsOptions,
  FieldError,
  FileFormat,
  FileSource,
  GetPlantOptions,
  ImportCounts,
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
  PlantStoreClient,
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
export { ERROR_CODES, PLANT_MEMBERS, RequestError }

export interface PlantStoreClientOptions {
  /** The URL of the service, with its base path: `https://example.org/garden`. */
  baseUrl: string | URL
  /** The bearer token. A function is called before every request, and may be asynchronous. */
  token?: string | (() => string | Promise<string>) | undefined
  /**
   * The timeout of a call with all its retries, in milliseconds. Default: 30,000. `Infinity`: none. For imports and
   * exports it limits the time without a byte, for lists the time of a page.
   */
  timeoutMs?: number | undefined
  /** Maximum number of tries of a call. Default: 5. 1: no retries. */
  triesMax?: number | undefined
  /** Replaces the global `fetch`, for example with one that uses a proxy. */
  fetch?: typeof globalThis.fetch | undefined
}

const TIMEOUT_MS_DEFAULT = 30_000
const TRIES_MAX_DEFAULT = 5

/**
 * Creates a client without opening a connection. Throws a TypeError for an invalid base URL, timeout or number of
 * tries.
 */
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
  // Also an empty query or fragment.
  if (!url || !/^https?:[^?#]+$/.test(url.href) || url.username || url.password) {
    throw new TypeError(
      'baseUrl must be an http(s) URL without credentials and query, such as http://127.0.0.1:8080',
    )
  }
  return url.href.replace(/\/+$/, '')
}
