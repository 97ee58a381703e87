import type { Logger } from 'pino'
import { SetupError } from '../errors.ts'
import { type CertificatePair, CONTEXT_OPTIONS, type ServerTls } from '../http/connections/server-tls.ts'
import { type CertificateFiles, checkPair, readPair } from './certificate.ts'

/**
 * Time between two checks of the files. Their contents are compared, which also works for replaced links (certbot,
 * Kubernetes) and for file systems without change events.
 */
const CHECK_INTERVAL_MS = 10_000

const DAY_MS = 86_400_000

/** How long before the expiry the log warns. Certificates of 90 days are usually renewed after 60. */
const WARNING_BEFORE_EXPIRY_MS = 14 * DAY_MS

/** The certificate of the service, reloaded when its files change. */
export interface RenewedCertificate extends ServerTls {
  /** Reads the files now. Logs a certificate that cannot be used, and keeps the current one. */
  reload(): Promise<void>
  /** Stops checking the files. */
  stop(): void
}

export interface RenewedCertificateOptions {
  files: CertificateFiles
  log: Logger
  checkIntervalMs?: number
  nowMs?: () => number
  /** Reads both files. Default: `readPair`. */
  read?: typeof readPair
}

/**
 * Reads the certificate and follows changes of its files. New connections use the new certificate; open ones continue
 * with the old one. Throws a SetupError if the first certificate cannot be used.
 */
export async function openCertificate({
  files,
  log,
  checkIntervalMs = CHECK_INTERVAL_MS,
  nowMs = Date.now,
  read: readFiles = readPair,
}: RenewedCertificateOptions): Promise<RenewedCertificate> {
  const servers = new Set<Parameters<ServerTls['follow']>[0]>()
  let pair = await readFiles(files)
  let expiresAtMs = checkPair(pair, files)
  /** The pair of the previous check. A pair is used once two checks agree, because files are replaced one by one. */
  let lastRead = pair
  /** The last pair that could not be used. It is logged once. */
  let rejected: CertificatePair | undefined
  let failure = ''
  let warnedAtMs = Number.NEGATIVE_INFINITY

  function warnOfExpiry() {
    const leftMs = expiresAtMs - nowMs()
    if (leftMs > WARNING_BEFORE_EXPIRY_MS || nowMs() - warnedAtMs < DAY_MS) return
    warnedAtMs = nowMs()
    const message =
      leftMs > 0 ? 'the certificate expires soon' : 'the certificate has expired: clients reject the service'
    log.warn({ certFile: files.certFile, expiresAt: new Date(expiresAtMs).toISOString() }, message)
  }

  function logExpiry(message: string) {
    log.info({ certFile: files.certFile, expiresAt: new Date(expiresAtMs).toISOString() }, message)
    warnedAtMs = Number.NEGATIVE_INFINITY
    warnOfExpiry()
  }

  function replaceWith(next: CertificatePair) {
    rejected = next
    expiresAtMs = checkPair(next, files)
    for (const server of servers) server.setSecureContext({ ...CONTEXT_OPTIONS, ...next })
    pair = next
    rejected = undefined
    logExpiry('a new certificate is in use')
  }

  async function read(use: (next: CertificatePair) => void, isRequested: boolean) {
    const previous = pair
    try {
      const next = await readFiles(files)
      // If another read has replaced the pair meanwhile, this one may be older.
      if (pair === previous) use(next)
      failure = ''
    } catch (error) {
      const reason = error instanceof SetupError ? error.message : String(error)
      if (!isRequested && reason === failure) return
      failure = reason
      log.error({ reason }, 'the certificate was not renewed; the old one stays in use')
    }
  }

  function check(next: CertificatePair) {
    const isSettled = isSame(next, lastRead)
    lastRead = next
    if (isSettled && !isSame(next, pair) && !isSame(next, rejected)) replaceWith(next)
  }

  logExpiry('the certificate is in use')
  let isChecking = false
  const timer = setInterval(async () => {
    warnOfExpiry()
    // One at a time: on a network file system that hangs, more checks would block every file thread.
    if (isChecking) return
    isChecking = true
    await read(check, false)
    isChecking = false
  }, checkIntervalMs)
  timer.unref()

  return {
    get certificate() {
      return pair
    },
    follow: (server) => void servers.add(server),
    onFailedHandshake: (error) => log.debug({ reason: error.message }, 'a TLS handshake failed'),
    reload: () =>
      read((next) => {
        if (isSame(next, pair)) logExpiry('the certificate is unchanged')
        else replaceWith(next)
      }, true),
    stop: () => clearInterval(timer),
  }
}

function isSame(one: CertificatePair, other: CertificatePair | undefined): boolean {
  return other !== undefined && one.cert.equals(other.cert) && one.key.equals(other.key)
}
