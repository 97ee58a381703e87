import { promisify } from 'node:util'
import fastify, { type FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import { createClientAddress } from './http/connections/client-address.ts'
import { type ConnectionLimitSettings, createConnectionLimit } from './http/connections/connection-limit.ts'
import { createCutLog } from './http/connections/dropped-connections.ts'
import type { ServerTls } from './http/connections/server-tls.ts'
import { createCrossOrigin } from './http/cross-origin.ts'
import { applyRouteRules } from './http/guard-routes.ts'
import { buildOpenApi, type DescribedRoute } from './http/openapi.ts'
import { createBodyReader } from './http/request/read-body.ts'
import { requestIdOf } from './http/request/request-id.ts'
import { createRequestLog, type RequestNote } from './http/request-log.ts'
import { answerError, appErrorOf, ErrorSchema } from './http/response/error-responses.ts'
import { registerDocsRoutes } from './http/routes/docs-routes.ts'
import { ReadinessSchema, registerHealthRoutes } from './http/routes/health-routes.ts'
import { registerMetricsRoutes } from './http/routes/metrics-routes.ts'
import { registerWebRoutes } from './http/routes/web-app-routes.ts'
import {
  answerClientError,
  createOrderedServer,
  HEADER_BYTES_MAX,
  type ServerLimits,
} from './http/server/http-server.ts'
import { createEventLoopLag } from './load/event-loop-lag.ts'
import { createWriteAdmission } from './load/load-shedding.ts'
import type { BackupTimes } from './metrics/backup-metrics.ts'
import { createMetrics } from './metrics/metrics.ts'
import { ImportErrorSchema, ImportEventSchema, ImportReportSchema } from './plants/import/import-report.ts'
import { NewPlantSchema, PlantChangeSchema, PlantSchema, StoredPlantSchema } from './plants/plant.ts'
import { AdditionsSchema, DayCountSchema } from './plants/plant-additions.ts'
import { TagCountSchema } from './plants/plant-store.ts'
import { registerPlantImportRoutes } from './plants/routes/import-routes.ts'
import { registerPlantListRoutes } from './plants/routes/list-routes.ts'
import { registerPlantRoutes } from './plants/routes/plant-routes.ts'
import type { Storage } from './storage/storage.ts'
import { createAuthenticator, type JwtVerifier } from './tokens/access/authenticate.ts'
import { createAdmission, type RateLimitSettings } from './tokens/access/authorize.ts'
import { createRequestAudit } from './tokens/access/request-audit.ts'
import { createFailureLimit, type FailureLimitSettings } from './tokens/access/token-guess-limit.ts'
import { registerTokenRotationRoutes } from './tokens/routes/token-rotation-routes.ts'
import { registerTokenRoutes } from './tokens/routes/token-routes.ts'
import { CreatedTokenSchema, NewTokenSchema, TokenRotationSchema, TokenSchema } from './tokens/token.ts'
import { createTokenAudit } from './tokens/token-audit.ts'
import type { Tracing } from './tracing/tracing.ts'

export interface AppParts {
  storage: Storage
  log: Logger
  /** One token with every scope, beside those in the storage. */
  fixedToken?: string | undefined
  /** Knows the JWTs of an OpenID provider, if one is set. */
  verifyJwt?: JwtVerifier | undefined
  /**
   * Where clients reach the service, if that is not just where it listens; its path comes before every route.
   */
  baseUrl?: string | undefined
  /** Origins whose pages may call the service from a browser; none by default, `*` for any. */
  corsOrigins?: readonly string[] | undefined
  limits: AppLimits
  /** Whether the service counts what it does, and tells it at /metrics. */
  metrics?: boolean
  /** Scheduled backups, if there are any. */
  backups?: BackupTimes | undefined
  /** Tells of requests elsewhere, if that is set. */
  tracing?: Tracing | undefined
  /** What TLS is spoken with; plain HTTP without it. */
  tls?: ServerTls | undefined
  isDraining(): boolean
  /** The clock of the rate limits, in milliseconds; it never goes back. */
  nowMs?: (() => number) | undefined
}

export interface AppLimits
  extends ServerLimits,
    RateLimitSettings,
    FailureLimitSettings,
    ConnectionLimitSettings {
  bodyBytesMax: number
  slowRequestMs: number
  /** How long requests may have to wait until they are read, before writes are refused. */
  eventLoopLagMaxMs: number
  /** Whose X-Forwarded-For is believed. */
  trustedProxies: string | undefined
  /** The Unix socket that is listened on, if one is. */
  socket?: string | undefined
}

const SCHEMAS = {
  Plant: PlantSchema,
  NewPlant: NewPlantSchema,
  StoredPlant: StoredPlantSchema,
  PlantChange: PlantChangeSchema,
  ImportReport: ImportReportSchema,
  ImportError: ImportErrorSchema,
  ImportEvent: ImportEventSchema,
  TagCount: TagCountSchema,
  DayCount: DayCountSchema,
  Additions: AdditionsSchema,
  Token: TokenSchema,
  NewToken: NewTokenSchema,
  CreatedToken: CreatedTokenSchema,
  Readiness: ReadinessSchema,
  TokenRotation: TokenRotationSchema,
  Error: ErrorSchema,
}

/** The HTTP service over a storage, not listening yet. */
export async function buildApp({
  storage,
  log,
  fixedToken,
  verifyJwt,
  baseUrl,
  corsOrigins,
  limits,
  metrics: hasMetrics = true,
  backups,
  tracing,
  tls,
  isDraining,
  nowMs,
}: AppParts) {
  const basePath = baseUrl === undefined ? '' : new URL(baseUrl).pathname.replace(/\/+$/, '')
  const audit = createTokenAudit(log)
  const clientAddress = createClientAddress(limits.trustedProxies, limits.socket)
  const { noteToken, noteRefusal, audited } = createRequestAudit({ audit, clientAddress })
  const failureLimit = createFailureLimit({ limits, clientAddress, nowMs })
  const authenticate = audited(
    createAuthenticator({ tokens: storage.tokens, fixedToken, verifyJwt, failureLimit }),
  )
  const admission = createAdmission({ authenticate, limits, nowMs })
  const admitAny = admission('any')
  const crossOrigin = corsOrigins && createCrossOrigin(corsOrigins)
  const countConnections = () => promisify(app.server.getConnections).call(app.server)
  const metrics = hasMetrics ? createMetrics({ storage, countConnections, backups }) : undefined
  const requestLog = createRequestLog({ log, slowRequestMs: limits.slowRequestMs, clientAddress, metrics })
  const { noteCut, stop: stopCutLog } = createCutLog(log, metrics?.recordCut)
  const limitConnection = createConnectionLimit(limits, noteCut)
  const { noteUnreadable } = requestLog
  const noteRequest = noteOnce(metrics?.record, tracing?.end, requestLog.noteRequest)
  const app: FastifyInstance = fastify({
    serverFactory: (handler) =>
      createOrderedServer(handler, { limits, tls, noteUnreadable, noteCut, limitConnection }),
    clientErrorHandler: (error, socket) => answerClientError(error, socket, noteUnreadable),
    // A target that cannot be decoded is judged like an unknown path: not without a token.
    frameworkErrors: (error, request, reply) => {
      // No hook runs for it.
      reply.raw.once('finish', () => noteRequest(request, reply))
      crossOrigin?.mark(request)
      admitAny(request, reply, (refusal) => answerError(refusal ?? appErrorOf(error), request, reply))
    },
    genReqId: requestIdOf,
    return503OnClosing: false,
    // A long id is judged like any other: what bounds it are the header fields.
    routerOptions: { maxParamLength: HEADER_BYTES_MAX },
  })
  app.decorate('noteRequest', noteRequest)
  app.setErrorHandler(answerError)
  leaveBodiesToRoutes(app)
  if (tracing !== undefined) {
    app.addHook('onRequest', (request, _reply, done) => {
      tracing.begin(request)
      done()
    })
  }
  app.addHook('onResponse', (request, reply, done) => {
    noteRequest(request, reply)
    done()
  })
  app.addHook('onClose', async () => {
    metrics?.stop()
    for (const stop of [audit.stop, requestLog.stop, stopCutLog]) stop()
  })
  const admitWrite = createWriteAdmission({
    eventLoopLag: createEventLoopLag({ lagMaxMs: limits.eventLoopLagMaxMs }),
    isStoreLagging: storage.isLagging,
    queuedWrites: storage.activity.queuedWrites,
  })
  const described = applyRouteRules(app, { admission, admitWrite, crossOrigin, basePath })

  const { plants, tokens, engine, ping } = storage
  const body = createBodyReader({ limits, judgeAgain: authenticate.judgeAgain })
  await app.register(
    async (routes) => {
      registerPlantRoutes(routes, { plants, body, basePath })
      registerPlantListRoutes(routes, { plants, basePath })
      registerPlantImportRoutes(routes, { plants, body })
      registerTokenRoutes(routes, { tokens, body, authenticate, noteToken })
      registerTokenRotationRoutes(routes, { tokens, body, authenticate, noteToken, noteRefusal })
      registerHealthRoutes(routes, { engine, ping, onCommit: storage.activity.onCommit, isDraining })
      if (metrics !== undefined) registerMetricsRoutes(routes, metrics)
      registerDocsRoutes(routes, { basePath })
      registerWebRoutes(routes, { basePath, openApi: describeService(described, baseUrl ?? '/') })
    },
    { prefix: basePath },
  )
  await app.ready()
  return app
}

/** Once for each request, so that what is told of it in the log is counted and traced, too. */
function noteOnce(...notes: (RequestNote | undefined)[]): RequestNote {
  return (request, reply) => {
    if (request.isNoted) return
    request.isNoted = true
    for (const note of notes) note?.(request, reply)
  }
}

/** To Fastify no method has a body: bodies are read where they are wanted (`read-body.ts`), after everything else. */
function leaveBodiesToRoutes(app: FastifyInstance): void {
  for (const method of app.supportedMethods)
    app.addHttpMethod(method, { hasBody: false, overrideExisting: true })
}

/** The OpenAPI document of these routes. */
function describeService(routes: readonly DescribedRoute[], serverUrl: string) {
  return buildOpenApi({ routes, schemas: SCHEMAS, serverUrl })
}
