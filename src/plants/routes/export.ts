import type { FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '../../errors.ts'
import type { BodyReaderOptions } from '../../http/request/read-body.ts'
import { acceptsGzip } from '../../http/response/compression.ts'
import { recordFailure } from '../../http/response/error-responses.ts'
import { type ResponseStream, streamResponse } from '../../http/response/stream-response.ts'
import { withinTime } from '../../load/within-time.ts'
import { yieldToEventLoop } from '../../load/yield-to-event-loop.ts'
import type { StoredPlant } from '../plant.ts'
import { CSV_HEADER, storedPlantCsv } from '../plant-csv.ts'
import { storedPlantJson } from '../plant-json.ts'
import type { PlantFilter, PlantStore } from '../plant-store.ts'
import { readOptionsOf } from './read-options.ts'

/** Characters that are sent at once: enough to be cheap, few enough not to block other requests. */
const CHUNK_CHARACTERS = 64 * 1024
/** Time limit for a client to read a chunk: about 1 KiB a second. */
const CHUNK_TIMEOUT_MS = 60_000

const FORMATS = {
  ndjson: {
    mediaType: 'application/x-ndjson',
    header: '',
    rowOf: (plant: StoredPlant) => `${storedPlantJson(plant)}\n`,
  },
  csv: { mediaType: 'text/csv; charset=utf-8; header=present', header: CSV_HEADER, rowOf: storedPlantCsv },
  'csv-with-mark': {
    mediaType: 'text/csv; charset=utf-8; header=present',
    header: `\ufeff${CSV_HEADER}`,
    rowOf: storedPlantCsv,
  },
}

export type ExportFormat = keyof typeof FORMATS

export interface ExportRouteOptions {
  plants: Pick<PlantStore, 'exportPlants'>
  /** Called between two chunks, as an export may take long. An error ends it. */
  recheckToken: BodyReaderOptions['recheckToken']
  /** The longest time of an export, which holds a snapshot. */
  exportTimeoutMs: number
  /** Time limit for a client to read a chunk. */
  chunkTimeoutMs?: number
}

/**
 * Sends every matching plant while the store reads them. A failure before the first chunk has an error response. A
 * later one drops the connection, so that the client sees that the response is incomplete.
 */
export async function sendExport(
  request: FastifyRequest,
  reply: FastifyReply,
  filter: PlantFilter,
  format: ExportFormat,
  { plants, recheckToken, exportTimeoutMs, chunkTimeoutMs = CHUNK_TIMEOUT_MS }: ExportRouteOptions,
): Promise<void> {
  const { mediaType } = FORMATS[format]
  const isCompressed = acceptsGzip(request)
  const fields = ['vary', 'Accept', 'vary', 'accept-encoding']
  if (request.method === 'HEAD') {
    streamResponse(reply, mediaType, { fields, isCompressed }).end()
    return
  }
  const endsAtMs = performance.now() + exportTimeoutMs
  const checkEnd = () =>
    new Promise<void>((resolve, reject) => {
      if (performance.now() >= endsAtMs) reject(tookTooLong(exportTimeoutMs))
      else recheckToken(request, (rejection) => (rejection === undefined ? resolve() : reject(rejection)))
    })
  const chunks = plants.exportPlants(filter, readOptionsOf(request))[Symbol.asyncIterator]()
  try {
    const first = await chunks.next()
    request.mayTakeLong = true
    const response = streamResponse(reply, mediaType, { fields, isCompressed })
    try {
      const send = (text: string) => inTime(response.send(text), chunkTimeoutMs)
      await sendChunks(first, chunks, format, { send, checkEnd })
      response.end()
    } catch (error) {
      recordFailure(error, request)
      response.abort()
    }
  } finally {
    await chunks.return?.()
  }
}

async function sendChunks(
  first: IteratorResult<readonly StoredPlant[]>,
  chunks: AsyncIterator<readonly StoredPlant[]>,
  format: ExportFormat,
  { send, checkEnd }: Pick<ResponseStream, 'send'> & { checkEnd(): Promise<void> },
): Promise<void> {
  const { header, rowOf } = FORMATS[format]
  let text = header
  for (let chunk = first; !chunk.done; chunk = await chunks.next()) {
    for (const plant of chunk.value) {
      text += rowOf(plant)
      if (text.length < CHUNK_CHARACTERS) continue
      // Lets other requests run between two chunks, even if the client reads fast.
      await (send(text) ?? yieldToEventLoop())
      text = ''
      await checkEnd()
    }
  }
  await send(text)
}

function inTime(sent: Promise<void> | undefined, timeoutMs: number): Promise<void> | undefined {
  return sent && withinTime(sent, timeoutMs, () => tooSlow(timeoutMs))
}

function tooSlow(timeoutMs: number): AppError {
  const message = `The client took longer than ${timeoutMs / 1000} seconds to read 64 KiB, the limit.`
  return new AppError(40801, message, { cause: message })
}

function tookTooLong(timeoutMs: number): AppError {
  const message = `The export took longer than ${timeoutMs / 1000} seconds, the limit.`
  // The response has begun, so only the log can say why it ends.
  return new AppError(40801, message, { cause: message })
}
