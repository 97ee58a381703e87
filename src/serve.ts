import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import { scheduledBackups } from './backups/scheduled-backups.ts'
import type { RenewedCertificate } from './certificates/renewed-certificate.ts'
import { checkConfig } from './check-config.ts'
import type { Config } from './config/read-config.ts'
import { warnOfFewDescriptors } from './http/connections/descriptor-limit.ts'
import { listen } from './http/server/listen.ts'
import { openStorage } from './storage/open-storage.ts'
import type { Storage } from './storage/storage.ts'
import type { JwtVerifier } from './tokens/access/authenticate.ts'
import { issueFirstToken } from './tokens/issue-token.ts'
import { SCOPES } from './tokens/token.ts'
import { createTokenAudit } from './tokens/token-audit.ts'
import type { Tracing } from './tracing/tracing.ts'
import { readVersion } from './version.ts'

/** How often idle connections are closed while the service stops. */
const IDLE_SWEEP_INTERVAL_MS = 50

/** A service that accepts requests. */
export interface RunningService {
  /** Where it listens, with the path of the base URL. */
  url: string
  /** The version of the program, with its commit. */
  version: string
  /** The Unix socket that it listens on, if any; requests to it may use `url`. */
  socket: string | undefined
  /** The token that was created because the store had none; its secret is stored nowhere. */
  firstToken: string | undefined
  /** Reads the certificate again, and logs the result. */
  reload(): Promise<void>
  /**
   * Stops: /readyz responds 503; after the configured delay no connection is accepted; requests in flight complete; the
   * storage is closed. Requests that are not complete within the configured time are aborted.
   */
  stop(): Promise<void>
}

/**
 * Opens the storage and serves it. Throws a SettingError for invalid settings, a SetupError if the machine prevents the
 * start.
 */
export async function serve(config: Config, log: Logger): Promise<RunningService> {
  const [version] = await Promise.all([readVersion(), checkConfig(config)])
  warnOfFewDescriptors(config.connectionsMax, log)
  const backups = scheduledBackups(config, log)
  const verifyJwt = await openIdTokens(config, log)
  const certificate = await openTls(config, log)
  const tracing = await openTracing(config, version, log)
  // The app is loaded while the threads of the storage start: both take about as long.
  const [storage, { buildApp }] = await Promise.all([
    openStorage(config.database, {
      ...config,
      onMigrated: (migration) => log.info(migration, 'migrated the schema of the database'),
    }),
    import('./app.ts'),
  ])
  storage.activity.onWarning((trouble) => {
    log.error({ trouble }, 'the storage cannot do all of its work; it is retried')
  })
  let isDraining = false
  try {
    const app = await buildApp({
      version,
      storage,
      log,
      fixedToken: config.fixedToken,
      verifyJwt,
      baseUrl: config.baseUrl,
      corsOrigins: config.corsOrigins,
      limits: config,
      metrics: config.metrics,
      backups,
      tracing,
      tls: certificate,
      isDraining: () => isDraining,
    })
    const listening = await listen(app, { ...config, isSecure: certificate !== undefined })
    // Not before: a start that fails would have created it and printed it nowhere.
    const firstToken = await createFirstToken(storage, config, log).catch(async (error: unknown) => {
      await listening.close()
      throw error
    })
    backups?.start(storage.activity.filesMoved)
    return {
      url: listening.origin + new URL(config.baseUrl ?? 'http://localhost').pathname.replace(/\/+$/, ''),
      version,
      socket: config.socket,
      firstToken,
      async reload() {
        if (certificate === undefined) log.info('there is no certificate to reload')
        else await certificate.reload()
      },
      async stop() {
        isDraining = true
        // New requests arrive until every load balancer has read /readyz.
        await delay(config.shutdownDelayMs)
        certificate?.stop()
        const abortTimer = setTimeout(() => app.server.closeAllConnections(), config.shutdownTimeoutMs)
        // A kept-alive connection would delay the end after its last response.
        const sweep = setInterval(() => app.server.closeIdleConnections(), IDLE_SWEEP_INTERVAL_MS)
        await Promise.all([listening.close(), backups?.stop()])
        clearInterval(sweep)
        clearTimeout(abortTimer)
        await Promise.all([storage.close(), tracing?.stop()])
      },
    }
  } catch (error) {
    certificate?.stop()
    await storage.close()
    throw error
  }
}

/** The verifier of JWTs, loaded only if a provider is set. */
async function openIdTokens(config: Config, log: Logger): Promise<JwtVerifier | undefined> {
  const { oidcIssuer: issuer, oidcAudience: audience, oidcScopeMap, oidcScopeClaim: scopeClaim } = config
  if (issuer === undefined || audience === undefined) return undefined
  const [{ createOpenIdTokens }, { parseScopeMapping }] = await Promise.all([
    import('./identity/openid-tokens.ts'),
    import('./identity/granted-scopes.ts'),
  ])
  return createOpenIdTokens({ issuer, audience, scopeClaim, scopes: parseScopeMapping(oidcScopeMap), log })
}

/** The certificate for TLS, loaded only if one is set. */
async function openTls(config: Config, log: Logger): Promise<RenewedCertificate | undefined> {
  const { tlsCert: certFile, tlsKey: keyFile } = config
  if (certFile === undefined || keyFile === undefined) return undefined
  const { openCertificate } = await import('./certificates/renewed-certificate.ts')
  return openCertificate({ files: { certFile, keyFile }, log })
}

/** The tracing of requests, loaded only if it is set. */
async function openTracing({ tracing }: Config, version: string, log: Logger): Promise<Tracing | undefined> {
  if (tracing === undefined) return undefined
  const { createTracing } = await import('./tracing/tracing.ts')
  return createTracing(tracing, version, log)
}

async function createFirstToken(
  { tokens }: Storage,
  config: Config,
  log: Logger,
): Promise<string | undefined> {
  if (config.fixedToken !== undefined || (await tokens.list()).length > 0) return undefined
  const issued = await issueFirstToken(tokens, { label: 'created at the first start', scopes: SCOPES })
  if (issued !== undefined) createTokenAudit(log).logChange('created', issued.stored, { by: 'first start' })
  return issued?.token
}
