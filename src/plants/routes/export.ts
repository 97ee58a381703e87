import type { FastifyReply, FastifyRequest } from 'fastify'
import { acceptsGzip } from '../../http/response/compression.ts'
import { recordFailure } from '../../http/response/error-responses.ts'
import { type ResponseStream, streamResponse } from '../../http/response/stream-response.ts'
import { yieldToEventLoop } from '../../load/yield-to-event-loop.ts'
import type { StoredPlant } from '../plant.ts'
import { CSV_HEADER, storedPlantCsv } from '../plant-csv.ts'
import { storedPlantJson } from '../plant-json.ts'
import type { PlantFilter, PlantStore } from '../plant-store.ts'
import { readOptionsOf } from './read-options.ts'

/** Characters that are sent at once: enough to be cheap, few enough not to block other requests. */
const CHUNK_CHARACTERS = 64 * 1024

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

/**
 * Sends every matching plant while the store reads them. A failure before the first chunk has an error response. A
 * later one drops the connection, so that the client sees that the response is incomplete.
 */
export async function sendExport(
  request: FastifyRequest,
  reply: FastifyReply,
  filter: PlantFilter,
  format: ExportFormat,
  plants: Pick<PlantStore, 'exportPlants'>,
): Promise<void> {
  const { mediaType } = FORMATS[format]
  const isCompressed = acceptsGzip(request)
  const fields = ['vary', 'Accept', 'vary', 'accept-encoding']
  if (request.method === 'HEAD') {
    streamResponse(reply, mediaType, { fields, isCompressed }).end()
    return
  }
  const chunks = plants.exportPlants(filter, readOptionsOf(request))[Symbol.asyncIterator]()
  try {
    const first = await chunks.next()
    request.mayTakeLong = true
    const response = streamResponse(reply, mediaType, { fields, isCompressed })
    try {
      await sendChunks(first, chunks, format, response)
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
  response: ResponseStream,
): Promise<void> {
  const { header, rowOf } = FORMATS[format]
  let text = header
  for (let chunk = first; !chunk.done; chunk = await chunks.next()) {
    for (const plant of chunk.value) {
      text += rowOf(plant)
      if (text.length < CHUNK_CHARACTERS) continue
      // Lets other requests run between two chunks, even if the client reads fast.
      await (response.send(text) ?? yieldToEventLoop())
      text = ''
    }
  }
  await response.send(text)
}
