import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '../../errors.ts'
import { preferredMediaType } from '../../http/request/accept.ts'
import { queryOf } from '../../http/request/query.ts'
import { askForBody, type BodyReader, checkBodyHeaders } from '../../http/request/read-body.ts'
import { recordFailure } from '../../http/response/error-responses.ts'
import { sendJson } from '../../http/response/responses.ts'
import { streamResponse } from '../../http/response/stream-response.ts'
import { BoundedQueue } from '../../load/bounded-queue.ts'
import {
  adviseEncoding,
  CSV,
  IMPORT_QUERY_NAMES,
  MEDIA_TYPE_ALIASES,
  NDJSON,
  parseImportQuery,
} from '../import/import-parameters.ts'
import { createImportProgress } from '../import/import-progress.ts'
import { failureLine, REPORTED_ERRORS_MAX, reportJson, reportLine } from '../import/import-report.ts'
import type { RowFailure } from '../import/import-rows.ts'
import { type PlantImportRun, runPlantImport } from '../import/run-import.ts'
import type { PlantStore } from '../plant-store.ts'
import { csvRowsOf, ndjsonRowsOf, notEmpty } from './import-body.ts'
import { importPlantsOperation } from './import-operation.ts'

/** Concurrent imports. Each takes up to some megabytes of memory, and more of them would not be faster. */
const IMPORTS_MAX = 8

export interface ImportRouteOptions {
  plants: PlantStore
  body: BodyReader
}

/** An import without the listener for its settled rows. */
type Run = Omit<PlantImportRun, 'onSettled'>

export function registerImportRoute(app: FastifyInstance, { plants, body }: ImportRouteOptions): void {
  // No queue: an import may take hours.
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
      const mediaType = checkImportHeaders(request.raw)
      const parameters = parseImportQuery(query, mediaType)
      const readRows = mediaType === CSV ? csvRowsOf(parameters) : ndjsonRowsOf
      const run: Run = {
        plants,
        onConflict: parameters.onConflict,
        dryRun: parameters.dryRun,
        rows: (signal) => readRows(notEmpty(body.stream(request, reply, signal))),
      }
      const accepted = preferredMediaType(request.headers.accept, ['application/json', NDJSON])
      await queue.run(
        () => {
          askForBody(request.raw, reply)
          request.mayTakeLong = true
          return accepted === NDJSON ? sendEvents(run, request, reply) : sendReport(run, reply)
        },
        { caller: request.caller.id },
      )
    },
  })

  app.route({
    // Otherwise these methods would match the path of a plant.
    method: ['GET', 'PUT', 'PATCH', 'DELETE'],
    url: '/plants/import',
    config: { scope: 'any', isUnsupported: true },
    handler: (_request, reply) => reply.callNotFound(),
  })
}

/** Throws as `checkBodyHeaders` does. */
function checkImportHeaders(raw: IncomingMessage): typeof NDJSON | typeof CSV {
  try {
    return checkBodyHeaders(raw, [NDJSON, CSV], ['gzip', 'x-gzip'], 'NDJSON or CSV', MEDIA_TYPE_ALIASES)
  } catch (error) {
    if (error instanceof AppError && error.code === 41501) adviseEncoding(raw.headers['content-type'])
    throw error
  }
}

async function sendReport(run: Run, reply: FastifyReply): Promise<void> {
  const errors: RowFailure[] = []
  const counts = await runPlantImport({
    ...run,
    onSettled(failedRows) {
      if (errors.length < REPORTED_ERRORS_MAX) {
        errors.push(...failedRows.slice(0, REPORTED_ERRORS_MAX - errors.length))
      }
      return undefined
    },
  })
  sendJson(reply, 200, reportJson(counts, errors))
}

/** Sends the events of an import while it runs. */
async function sendEvents(run: Run, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const response = streamResponse(reply, NDJSON)
  const progress = createImportProgress(response.send)
  let lastLine: string
  try {
    lastLine = reportLine(await runPlantImport({ ...run, onSettled: progress.onSettled }))
  } catch (error) {
    lastLine = failureLine(recordFailure(error, request))
  }
  // Rejects if the client is gone.
  response.send(progress.stop() + lastLine)?.catch(() => {})
  response.end()
}
