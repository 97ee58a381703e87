import { parseWithIdTexts, withExactId } from './exact-ids.ts'
import { filterValues, type PlantFilter } from './list-plants.ts'
import type { StoredPlant } from './plant-types.ts'
import { queryText } from './query-text.ts'
import { connectionLost, readChunks, readLines } from './read-lines.ts'
import { asList } from './read-response.ts'
import { type CallOptions, foreignResponse, type Sender } from './send-request.ts'
import type { TimeLimit } from './time-limit.ts'

/** `timeoutMs` limits the time without a byte. */
export interface ExportPlantsOptions extends PlantFilter, CallOptions {}

export interface ExportFileOptions extends ExportPlantsOptions {
  /** `ndjson`: a plant per line. `csv` (RFC 4180): the header is `id,name,tag,createdAt,updatedAt`. */
  format: FileFormat
  /** Begins CSV with a byte order mark, for programs that do not recognise UTF-8 otherwise. */
  bom?: boolean | undefined
}

export type FileFormat = 'ndjson' | 'csv'

export const NDJSON = 'application/x-ndjson'

/** Throws a TypeError for an unknown format. */
export function mediaTypeOf(format: FileFormat | undefined): string {
  if (format === 'ndjson') return NDJSON
  if (format === 'csv') return 'text/csv'
  throw new TypeError("format must be 'ndjson' or 'csv'")
}

/** Each loop sends its own request. */
export function exportPlants(sender: Sender, options: ExportPlantsOptions): AsyncIterable<StoredPlant> {
  return { [Symbol.asyncIterator]: () => exportedPlants(sender, options) }
}

async function* exportedPlants(
  sender: Sender,
  options: ExportPlantsOptions,
): AsyncGenerator<StoredPlant, void, undefined> {
  const limit = sender.limitTime(options)
  try {
    const response = await openExport(sender, { ...options, format: 'ndjson' }, limit)
    for await (const lines of readLines(response, limit)) {
      yield* plantsIn(lines)
    }
  } finally {
    limit.end()
  }
}

export async function exportFile(
  sender: Sender,
  options: ExportFileOptions,
): Promise<ReadableStream<Uint8Array>> {
  const limit = sender.limitTime(options)
  try {
    const chunks = readChunks(await openExport(sender, options, limit), limit)
    limit.hold()
    return new ReadableStream<Uint8Array>({
      async pull(controller) {
        try {
          const { done, value } = await chunks.next()
          if (!done) return controller.enqueue(value)
          controller.close()
        } catch (error) {
          controller.error(error)
        }
        limit.end()
      },
      cancel: () => limit.end(),
    })
  } catch (error) {
    limit.end()
    throw error
  }
}

async function openExport(sender: Sender, options: ExportFileOptions, limit: TimeLimit): Promise<Response> {
  const accept = mediaTypeOf(options.format)
  const path = `/plants${queryText({ ...filterValues(options), number: { bom: options.bom ? 1 : undefined } })}`
  const response = await sender.open({ path, headers: { accept } }, limit)
  // A page of a list would look like a complete export.
  if (response.headers.get('content-type')?.startsWith(accept)) return response.body
  throw foreignResponse(response, `it is not ${accept}`)
}

function plantsIn(lines: readonly string[]): StoredPlant[] {
  try {
    return asList(parseWithIdTexts(`[${lines.join()}]`)).map(withExactId<StoredPlant>)
  } catch (cause) {
    throw connectionLost(cause)
  }
}
