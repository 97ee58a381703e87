import { promisify } from 'node:util'
import fastify, { type FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import { createClientAddress } from './http/connections/client-address.ts'
import { type ConnectionLimitSettings, createConnectionLimit } from './http/connections/connection-limit.ts'
import { createDropLog } from './http/connections/dropped-connections.ts'
import type { ServerTls } from './http/connections/server-tls.ts'
import { createCrossOrigin } from './http/cross-origin.ts'
import { guardRoutes } from './http/guard-routes.ts'
import { buildOpenApi, type DescribedRoute } from './http/openapi.ts'
import { createBodyReader } from './http/request/read-body.ts'
import { requestIdOf } from './http/request/request-id.ts'
import { createRequestLog, recordOnce, recordResponses } from './http/request-log.ts'
import { createSendLongJson } from './http/response/compression.ts'
import { appErrorOf, sendError } from './http/response/error-responses.ts'
import { ErrorDetailsSchema, ErrorSchema, FieldErrorSchema } from './http/response/error-schema.ts'
import { registerDocsRoutes } from './http/routes/docs-routes.ts'
import { ReadinessSchema, registerHealthRoutes } from './http/routes/health-routes.ts'
import { registerMetricsRoutes } from './http/routes/metrics-routes.ts'
import { registerWebRoutes } from './http/routes/web-app-routes.ts'
import {
  createHttpServer,
  HEADER_BYTES_MAX,
  type ServerLimits,
  sendClientError,
} from './http/server/http-server.ts'
import { createEventLoopLag } from './load/event-loop-lag.ts'
import { createLoadShedding } from './load/load-shedding.ts'
import type { BackupTimes } from './metrics/backup-metrics.ts'
import { createMetrics } from './metrics/metrics.ts'
import {
  ImportCountsSchema,
  ImportErrorSchema,
  ImportEventSchema,
  ImportReportSchema,
} from './plants/import/import-report.ts'
import { NewPlantSchema, PlantSchema, PlantUpdateSchema, StoredPlantSchema } from './plants/plant.ts'
import { AdditionsSchema, DayCountSchema } from './plants/plant-additions.ts'
import { TagCountSchema } from './plants/plant-store.ts'
import { registerPlantRoutes } from './plants/routes/plant-routes.ts'
import type { Storage } from './storage/storage.ts'
import { createAuthenticator, type JwtVerifier } from './tokens/access/authenticate.ts'
import { createAuthorize, type RateLimitSettings } from './tokens/access/authorize.ts'
import { createRequestAudit } from './tokens/access/request-audit.ts'
import { createTokenGuessLimit, type TokenGuessLimitSettings } from './tokens/access/token-guess-limit.ts'
import { registerTokenRotationRoutes } from './tokens/routes/token-rotation-routes.ts'
import { registerTokenRoutes } from './tokens/routes/token-routes.ts'
import { CreatedTokenSchema, NewTokenSchema, TokenRotationSchema, TokenSchema } from './tokens/token.ts'
import { createTokenAudit } from './tokens/token-audit.ts'
import type { Tracing } from './tracing/tracing.ts'

export interface AppOptions {
  /** The version of the program. */
  version: string
  storage: Storage
  log: Logger
  /** A token with every scope, in addition to those in the storage. */
  fixedToken?: string | undefined
  /** Verifies the JWTs of an OpenID provider, if one is set. */
  verifyJwt?: JwtVerifier | undefined
  /** Where clients reach the service, if not where it listens; its path prefixes every route. */
  baseUrl?: string | undefined
  /** Origins that may call the service from a browser; none by default, `*` for any. */
  corsOrigins?: readonly string[] | undefined
  limits: AppLimits
  /** Whether /metrics is served; true by default. */
  metrics?: boolean
  /** Scheduled backups, if there are any. */
  backups?: BackupTimes | undefined
  /** Traces requests, if a collector is set. */
  tracing?: Tracing | undefined
  /** The certificate for TLS; plain HTTP without it. */
  tls?: ServerTls | undefined
  isDraining(): boolean
  /** The clock of the rate limits, in milliseconds; it never goes back. */
  nowMs?: (() => number) | undefined
}

interface AppLimits
  extends ServerLimits,
    RateLimitSettings,
    TokenGuessLimitSettings,
    ConnectionLimitSettings {
  bodyBytesMax: number
  slowRequestMs: number
  /** The longest time of an export. */
  exportTimeoutMs: number
  /** The lag of the event loop above which writes are rejected. */
  eventLoopLagMaxMs: number
  /** Proxies with trusted X-Forwarded-For. */
  trustedProxies: string | undefined
  /** The Unix socket to listen on, if any. */
  socket?: string | undefined
}

const SCHEMAS = {
  Plant: PlantSchema,
  NewPlant: NewPlantSchema,
  StoredPlant: StoredPlantSchema,
  PlantUpdate: PlantUpdateSchema,
  ImportReport: ImportReportSchema,
  ImportError: ImportErrorSchema,
  ImportEvent: ImportEventSchema,
  ImportCounts: ImportCountsSchema,
  TagCount: TagCountSchema,
  DayCount: DayCountSchema,
  Additions: AdditionsSchema,
  Token: TokenSchema,
  NewToken: NewTokenSchema,
  CreatedToken: CreatedTokenSchema,
  Readiness: ReadinessSchema,
  TokenRotation: TokenRotationSchema,
  FieldError: FieldErrorSchema,
  ErrorDetails: ErrorDetailsSchema,
  Error: ErrorSchema,
}

/** The HTTP service over a storage, not listening yet. */
export async function buildApp({
  version,
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
}: AppOptions) {
  const basePath = baseUrl === undefined ? '' : new URL(baseUrl).pathname.replace(/\/+$/, '')
  const linkBase = baseUrl?.replace(/\/+$/, '') ?? ''
  const audit = createTokenAudit(log)
  const clientAddress = createClientAddress(limits.trustedProxies, limits.socket)
  const { logToken, logRejection } = createRequestAudit({ audit, clientAddress })
  const tokenGuessLimit = createTokenGuessLimit({ limits, clientAddress, nowMs })
  const authenticate = createAuthenticator({
    tokens: storage.tokens,
    fixedToken,
    verifyJwt,
    tokenGuessLimit,
    onRejected: logRejection,
  })
  const authorize = createAuthorize({ authenticate, limits, nowMs })
  const crossOrigin = corsOrigins && createCrossOrigin(corsOrigins)
  const countConnections = () => promisify(app.server.getConnections).call(app.server)
  const metrics = hasMetrics ? createMetrics({ version, storage, countConnections, backups }) : undefined
  const requestLog = createRequestLog({ log, slowRequestMs: limits.slowRequestMs, clientAddress, metrics })
  const { onDropped, stop: stopDropLog } = createDropLog(log, metrics?.recordDrop)
  const limitConnection = createConnectionLimit(limits, onDropped)
  const { recordUnreadable } = requestLog
  const recordRequest = recordOnce([metrics?.record, tracing?.end, requestLog.recordRequest])
  const app: FastifyInstance = fastify({
    serverFactory: (handler) =>
      createHttpServer(handler, { limits, tls, recordUnreadable, onDropped, limitConnection }),
    clientErrorHandler: (error, socket) => sendClientError(error, socket, recordUnreadable),
    // A target that cannot be decoded is treated like an unknown path: it requires a token.
    frameworkErrors: (error, request, reply) => {
      // No hook runs for such a request.
      reply.raw.once('finish', () => recordRequest(request, reply))
      crossOrigin?.mark(request)
      authorize(request, 'any', (rejection) => sendError(rejection ?? appErrorOf(error), request, reply))
    },
    genReqId: requestIdOf,
    return503OnClosing: false,
    // Ids are validated by the routes, whatever their length; the limit on header fields bounds them.
    routerOptions: { maxParamLength: HEADER_BYTES_MAX },
  })
  recordResponses(app, recordRequest)
  app.setErrorHandler(sendError)
  leaveBodiesToRoutes(app)
  if (tracing !== undefined) {
    app.addHook('onRequest', (request, _reply, done) => {
      tracing.begin(request)
      done()
    })
  }
  app.addHook('onClose', async () => {
    metrics?.stop()
    for (const stop of [audit.stop, requestLog.stop, stopDropLog]) stop()
  })
  const shedLoad = createLoadShedding({
    eventLoopLag: createEventLoopLag({ lagMaxMs: limits.eventLoopLagMaxMs }),
    isStorageLagging: storage.isLagging,
    queuedWrites: storage.activity.queuedWrites,
  })
  const described = guardRoutes(app, { authorize, shedLoad, crossOrigin, basePath })

  const { plants, tokens, engine, ping } = storage
  const { onCommit, filesMoved } = storage.activity
  const { recheckToken } = authenticate
  const body = createBodyReader({ limits, recheckToken })
  await app.register(
    async (routes) => {
      registerPlantRoutes(routes, {
        ...{ plants, body, basePath, linkBase, recheckToken },
        exportTimeoutMs: limits.exportTimeoutMs,
        sendLongJson: createSendLongJson(),
      })
      registerTokenRoutes(routes, { tokens, body, authenticate, logToken })
      registerTokenRotationRoutes(routes, { tokens, body, authenticate, logToken, logRejection })
      registerHealthRoutes(routes, { version, engine, ping, onCommit, filesMoved, isDraining })
      if (metrics !== undefined) registerMetricsRoutes(routes, metrics)
      registerDocsRoutes(routes, { basePath })
      registerWebRoutes(routes, { basePath, openApi: describeService(described, baseUrl ?? '/') })
    },
    { prefix: basePath },
  )
  await app.ready()
  return app
}

/** To Fastify no method has a body: the routes read bodies themselves (`read-body.ts`), after all other checks. */
function leaveBodiesToRoutes(app: FastifyInstance): void {
  for (const method of app.supportedMethods)
    app.addHttpMethod(method, { hasBody: false, overrideExisting: true })
}

/** The OpenAPI document of these routes. */
function describeService(routes: readonly DescribedRoute[], serverUrl: string) {
  return buildOpenApi({ routes, schemas: SCHEMAS, serverUrl })
}
