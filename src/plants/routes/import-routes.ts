import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '../../errors.ts'
import { preferredMediaType } from '../../http/request/accept.ts'
import { queryOf } from '../../http/request/query.ts'
import { askForBody, type BodyReader, checkBodyHeaders, parseJsonText } from '../../http/request/read-body.ts'
import { recordFailure } from '../../http/response/error-responses.ts'
import { sendJson } from '../../http/response/responses.ts'
import { streamResponse } from '../../http/response/stream-response.ts'
import { BoundedQueue } from '../../load/bounded-queue.ts'
import { createCsvRows } from '../import/csv-rows.ts'
import { decodeText } from '../import/decode-text.ts'
import {
  adviseEncoding,
  CSV,
  IMPORT_QUERY_NAMES,
  type ImportParameters,
  NDJSON,
  parseImportQuery,
} from '../import/import-parameters.ts'
import { createImportProgress } from '../import/import-progress.ts'
import { failureLine, REPORTED_ERRORS_MAX, reportJson, reportLine } from '../import/import-report.ts'
import type { ImportRows, RowFailure } from '../import/import-rows.ts'
import { createNdjsonRows } from '../import/ndjson-rows.ts'
import { type PlantImportRun, runPlantImport } from '../import/run-import.ts'
import { createLineSplitter } from '../import/text-lines.ts'
import type { PlantStore } from '../plant-store.ts'
import { importPlantsOperation } from './import-operations.ts'

/** Imports at once: each holds some megabytes of rows at worst, and more of them would store nothing faster. */
const IMPORTS_MAX = 8

export interface PlantImportRoutesOptions {
  plants: PlantStore
  body: BodyReader
}

/** An import but for whom it tells. */
type Run = Omit<PlantImportRun, 'tell'>

export function registerPlantImportRoutes(
  app: FastifyInstance,
  { plants, body }: PlantImportRoutesOptions,
): void {
  // None is queued: an import may take hours.
  const queue = new BoundedQueue({
    slots: IMPORTS_MAX,
    queuedMax: 0,
    overloaded: new AppError(50301, 'Too many imports are running. Retry when one has ended.', {
      reason: 'imports',
    }),
  })
  app.route({
    method: 'POST',
    url: '/plants/import',
    config: { scope: 'plants:write', operation: importPlantsOperation },
    async handler(request, reply) {
      const query = queryOf(request, IMPORT_QUERY_NAMES)
      const mediaType = judgeImportBody(request.raw)
      const parameters = parseImportQuery(query, mediaType)
      const readRows = mediaType === CSV ? csvRowsOf(parameters) : ndjsonRowsOf
      const run: Run = {
        plants,
        onConflict: parameters.onConflict,
        dryRun: parameters.dryRun,
        rows: (signal) => readRows(notEmpty(body.stream(request, signal))),
      }
      const accepted = preferredMediaType(request.headers.accept, ['application/json', NDJSON])
      await queue.run(
        () => {
          askForBody(request.raw, reply)
          request.mayTakeLong = true
          return accepted === NDJSON ? answerEvents(run, request, reply) : answerReport(run, reply)
        },
        { caller: request.caller.id },
      )
    },
  })

  app.route({
    // To these methods the path would be that of a plant.
    method: ['GET', 'PUT', 'PATCH', 'DELETE'],
    url: '/plants/import',
    config: { scope: 'any', isRefused: true },
    handler: (_request, reply) => reply.callNotFound(),
  })
}

/** Throws as `checkBodyHeaders` does. */
function judgeImportBody(raw: IncomingMessage): typeof NDJSON | typeof CSV {
  try {
    return checkBodyHeaders(raw, [NDJSON, CSV], ['gzip', 'x-gzip'], 'NDJSON or CSV')
  } catch (error) {
    if (error instanceof AppError && error.code === 41501) adviseEncoding(raw.headers['content-type'])
    throw error
  }
}

async function answerReport(run: Run, reply: FastifyReply): Promise<void> {
  const errors: RowFailure[] = []
  const counts = await runPlantImport({
    ...run,
    tell(refusals) {
      if (errors.length < REPORTED_ERRORS_MAX) {
        errors.push(...refusals.slice(0, REPORTED_ERRORS_MAX - errors.length))
      }
      return undefined
    },
  })
  sendJson(reply, 200, reportJson(counts, errors))
}

/** Tells of the import while it runs. */
async function answerEvents(run: Run, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const answer = streamResponse(reply, NDJSON)
  const progress = createImportProgress(answer.send)
  let lastLine: string
  try {
    lastLine = reportLine(await runPlantImport({ ...run, tell: progress.tell }))
  } catch (error) {
    lastLine = failureLine(recordFailure(error, request))
  }
  // To nobody where the client is gone.
  answer.send(progress.stop() + lastLine)?.catch(() => {})
  answer.end()
}

async function* notEmpty(pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer, undefined> {
  let isEmpty = true
  for await (const piece of pieces) {
    isEmpty = false
    yield piece
  }
  if (isEmpty) throw new AppError(40001, 'The body is missing. Send NDJSON or CSV.')
}

async function* ndjsonRowsOf(pieces: AsyncIterable<Buffer>): AsyncGenerator<ImportRows, undefined> {
  const rows = createNdjsonRows((text) => parseJsonText(text, 'line'))
  const lines = createLineSplitter()
  const advice = () => 'Send NDJSON in UTF-8 (RFC 8259 §8.1).'
  for await (const piece of decodeText(pieces, undefined, advice)) {
    const { text, faults } = lines.take(piece)
    if (text !== '') yield rows.read(text, faults)
  }
  const { text, faults } = lines.end()
  yield rows.read(text, faults)
}

function csvRowsOf({ columns, idStart, encoding }: ImportParameters) {
  const rows = createCsvRows({ columns, idStart })
  return async function* rowsOf(pieces: AsyncIterable<Buffer>): AsyncGenerator<ImportRows, undefined> {
    const advice = (found: string) => `Set the parameter encoding to ${found}.`
    for await (const chunk of decodeText(pieces, encoding, advice)) yield rows.read(chunk)
    yield rows.end()
  }
}
