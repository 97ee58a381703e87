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

/** Imports at once: each holds some megabytes of rows at worst, and more of them would store nothing faster. */
const IMPORTS_MAX = 8

export interface ImportRouteOptions {
  plants: PlantStore
  body: BodyReader
}

/** An import without the function that takes its failed rows. */
type Run = Omit<PlantImportRun, 'tell'>

export function registerImportRoute(app: FastifyInstance, { plants, body }: ImportRouteOptions): void {
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
      const mediaType = checkImportHeaders(request.raw)
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
          return accepted === NDJSON ? sendEvents(run, request, reply) : sendReport(run, reply)
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
function checkImportHeaders(raw: IncomingMessage): typeof NDJSON | typeof CSV {
  try {
    return checkBodyHeaders(raw, [NDJSON, CSV], ['gzip', 'x-gzip'], 'NDJSON or CSV')
  } catch (error) {
    if (error instanceof AppError && error.code === 41501) adviseEncoding(raw.headers['content-type'])
    throw error
  }
}

async function sendReport(run: Run, reply: FastifyReply): Promise<void> {
  const errors: RowFailure[] = []
  const counts = await runPlantImport({
    ...run,
    tell(failedRows) {
      if (errors.length < REPORTED_ERRORS_MAX) {
        errors.push(...failedRows.slice(0, REPORTED_ERRORS_MAX - errors.length))
      }
      return undefined
    },
  })
  sendJson(reply, 200, reportJson(counts, errors))
}

/** Sends the events of the import while it runs. */
async function sendEvents(run: Run, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const response = streamResponse(reply, NDJSON)
  const progress = createImportProgress(response.send)
  let lastLine: string
  try {
    lastLine = reportLine(await runPlantImport({ ...run, tell: progress.tell }))
  } catch (error) {
    lastLine = failureLine(recordFailure(error, request))
  }
  // It rejects where the client is gone.
  response.send(progress.stop() + lastLine)?.catch(() => {})
  response.end()
}
