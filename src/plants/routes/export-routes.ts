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

/** Text that is sent at once: enough to be cheap, and little to hold in memory or to be made without a pause. */
const PIECE_CHARACTERS = 64 * 1024

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
 * Answers with every plant that matches, as they are read. What fails before the first of them has an answer of its
 * own; what fails later breaks the connection off, so that the client sees that the answer is not whole.
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
  const steps = plants.exportPlants(filter, readOptionsOf(request))[Symbol.asyncIterator]()
  try {
    const first = await steps.next()
    request.mayTakeLong = true
    const answer = streamResponse(reply, mediaType, { fields, isCompressed })
    try {
      await sendSteps(first, steps, format, answer)
      answer.end()
    } catch (error) {
      recordFailure(error, request)
      answer.cut()
    }
  } finally {
    await steps.return?.()
  }
}

async function sendSteps(
  first: IteratorResult<readonly StoredPlant[]>,
  steps: AsyncIterator<readonly StoredPlant[]>,
  format: ExportFormat,
  answer: ResponseStream,
): Promise<void> {
  const { header, rowOf } = FORMATS[format]
  let text = header
  for (let step = first; !step.done; step = await steps.next()) {
    for (const plant of step.value) {
      text += rowOf(plant)
      if (text.length < PIECE_CHARACTERS) continue
      // Others are served between two pieces, also where the client is the faster one.
      await (answer.send(text) ?? yieldToEventLoop())
      text = ''
    }
  }
  await answer.send(text)
}
