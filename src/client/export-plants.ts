import { parseWithIdTexts, withExactId } from './exact-ids.ts'
import { filterValues, type PlantFilter } from './list-plants.ts'
import type { StoredPlant } from './plant-types.ts'
import { queryText } from './query-text.ts'
import { asList } from './read-answer.ts'
import { brokeOff, readChunks, readLines } from './read-lines.ts'
import { type CallOptions, type Sender, sendError } from './send-request.ts'
import type { TimeLimit } from './time-limit.ts'

/** `timeoutMs` is the longest time that the service may take for the next bytes. */
export interface ExportPlantsOptions extends PlantFilter, CallOptions {}

export interface ExportFileOptions extends ExportPlantsOptions {
  /** `ndjson` is a plant's JSON a line, `csv` RFC 4180 with the header `id,name,tag,createdAt,updatedAt`. */
  format: FileFormat
  /** Begin a CSV file with a byte order mark, for programs that take it for another encoding otherwise. */
  bom?: boolean | undefined
}

export type FileFormat = 'ndjson' | 'csv'

export const NDJSON = 'application/x-ndjson'

/** Throws a TypeError for a format that is none. */
export function mediaTypeOf(format: FileFormat | undefined): string {
  if (format === 'ndjson') return NDJSON
  if (format === 'csv') return 'text/csv'
  throw new TypeError("format must be 'ndjson' or 'csv'")
}

/** Each loop over it asks anew. */
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
  const answer = await sender.open({ path, headers: { accept } }, limit)
  // A page of a list would look like an export that is whole.
  if (answer.headers.get('content-type')?.startsWith(accept)) return answer.body
  throw sendError(answer, `The answer is no export: it is not ${accept}`)
}

function plantsIn(lines: readonly string[]): StoredPlant[] {
  try {
    return asList(parseWithIdTexts(`[${lines.join()}]`)).map(withExactId<StoredPlant>)
  } catch (cause) {
    throw brokeOff(cause)
  }
}
