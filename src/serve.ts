import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import { scheduledBackups } from './backups/scheduled-backups.ts'
import type { RenewedCertificate } from './certificates/renewed-certificate.ts'
import { checkConfig } from './check-config.ts'
import type { Config } from './config/read-config.ts'
import { listen } from './http/server/listen.ts'
import { openStorage } from './storage/open-storage.ts'
import type { Storage } from './storage/storage.ts'
import type { JwtVerifier } from './tokens/access/authenticate.ts'
import { issueFirstToken } from './tokens/issue-token.ts'
import { SCOPES } from './tokens/token.ts'
import { createTokenAudit } from './tokens/token-audit.ts'
import type { Tracing } from './tracing/tracing.ts'

/** How often connections are closed that have fallen idle while the service stops. */
const IDLE_SWEEP_INTERVAL_MS = 50

/** A service that answers. */
export interface RunningService {
  /** Where it listens, with the path of the base URL. */
  url: string
  /** The Unix socket that it listens on, if it does; `url` is then what a request to it may name. */
  socket: string | undefined
  /** The token that was made because there was none; it is kept nowhere else. */
  firstToken: string | undefined
  /** Reads the certificate anew; what it comes to is in the log. */
  reload(): Promise<void>
  /**
   * Stops: says that it is not ready, and after the configured delay accepts no more connections, answers what is in
   * flight, and closes the storage. What is not done after the configured time is cut off.
   */
  stop(): Promise<void>
}

/**
 * Opens the storage and serves it. Throws a SettingError when the settings do not allow it, a SetupError when the
 * machine does not.
 */
export async function serve(config: Config, log: Logger): Promise<RunningService> {
  await checkConfig(config)
  const backups = scheduledBackups(config, log)
  const verifyJwt = await openIdTokens(config, log)
  const certificate = await openTls(config, log)
  const tracing = await openTracing(config, log)
  // The app is loaded while the threads of the storage start: each takes about as long as the other.
  const [storage, { buildApp }] = await Promise.all([
    openStorage(config.database, config),
    import('./app.ts'),
  ])
  storage.activity.onTrouble((trouble) => {
    log.error({ trouble }, 'the storage cannot do its work beside the writes; it is tried again')
  })
  let isDraining = false
  try {
    const app = await buildApp({
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
    // Not before: a start that fails would have made it, and told nobody.
    const firstToken = await makeFirstToken(storage, config, log).catch(async (error: unknown) => {
      await listening.close()
      throw error
    })
    backups?.start()
    return {
      url: listening.origin + new URL(config.baseUrl ?? 'http://localhost').pathname.replace(/\/+$/, ''),
      socket: config.socket,
      firstToken,
      async reload() {
        if (certificate === undefined) log.info('there is no certificate to be read anew')
        else await certificate.reload()
      },
      async stop() {
        isDraining = true
        // New requests come until every load balancer has looked at /readyz.
        await delay(config.shutdownDelayMs)
        certificate?.stop()
        const cutOff = setTimeout(() => app.server.closeAllConnections(), config.shutdownTimeoutMs)
        // A connection that is kept would hold up the end when its last request has been answered.
        const sweep = setInterval(() => app.server.closeIdleConnections(), IDLE_SWEEP_INTERVAL_MS)
        await Promise.all([listening.close(), backups?.stop()])
        clearInterval(sweep)
        clearTimeout(cutOff)
        await Promise.all([storage.close(), tracing?.stop()])
      },
    }
  } catch (error) {
    certificate?.stop()
    await storage.close()
    throw error
  }
}

/** What knows the JWTs of the provider that is set, loaded only then. */
async function openIdTokens(config: Config, log: Logger): Promise<JwtVerifier | undefined> {
  const { oidcIssuer: issuer, oidcAudience: audience, oidcScopeMap, oidcScopeClaim: scopeClaim } = config
  if (issuer === undefined || audience === undefined) return undefined
  const [{ createOpenIdTokens }, { parseScopeMapping }] = await Promise.all([
    import('./identity/openid-tokens.ts'),
    import('./identity/granted-scopes.ts'),
  ])
  return createOpenIdTokens({ issuer, audience, scopeClaim, scopes: parseScopeMapping(oidcScopeMap), log })
}

/** The certificate that is set, loaded only then. */
async function openTls(config: Config, log: Logger): Promise<RenewedCertificate | undefined> {
  const { tlsCert: certFile, tlsKey: keyFile } = config
  if (certFile === undefined || keyFile === undefined) return undefined
  const { openCertificate } = await import('./certificates/renewed-certificate.ts')
  return openCertificate({ files: { certFile, keyFile }, log })
}

/** What tells of requests elsewhere, loaded only where that is set. */
async function openTracing({ tracing }: Config, log: Logger): Promise<Tracing | undefined> {
  if (tracing === undefined) return undefined
  const { createTracing } = await import('./tracing/tracing.ts')
  return createTracing(tracing, log)
}

async function makeFirstToken({ tokens }: Storage, config: Config, log: Logger): Promise<string | undefined> {
  if (config.fixedToken !== undefined || (await tokens.list()).length > 0) return undefined
  const made = await issueFirstToken(tokens, { label: 'made at the first start', scopes: SCOPES })
  if (made !== undefined) createTokenAudit(log).logChange('created', made.stored, { by: 'first start' })
  return made?.token
}
