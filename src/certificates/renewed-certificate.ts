import type { Logger } from 'pino'
import { SetupError } from '../errors.ts'
import { type CertificatePair, CONTEXT_OPTIONS, type ServerTls } from '../http/connections/server-tls.ts'
import { type CertificateFiles, checkPair, readPair } from './certificate.ts'

/**
 * How often the files are read. They are small, and what they say is compared: links that are swapped, as certbot and
 * Kubernetes do, and file systems that tell nobody of changes are all the same then.
 */
const LOOK_INTERVAL_MS = 10_000

const DAY_MS = 86_400_000

/** From when on the end of a certificate is warned of: those of 90 days are renewed 30 days before theirs. */
const WARNED_BEFORE_END_MS = 14 * DAY_MS

/** The certificate of the service, as its files have it. */
export interface RenewedCertificate extends ServerTls {
  /** Reads the files now. What cannot be used is told in the log, and the one before it stays. */
  reload(): Promise<void>
  /** Looks at the files no more. */
  stop(): void
}

export interface RenewedCertificateOptions {
  files: CertificateFiles
  log: Logger
  lookIntervalMs?: number
  nowMs?: () => number
  /** Reads both files, in another way than the usual one. */
  read?: typeof readPair
}

/**
 * Reads the certificate and keeps to what its files hold, for new connections; those that are open go on. Throws a
 * SetupError when there is none to begin with.
 */
export async function openCertificate({
  files,
  log,
  lookIntervalMs = LOOK_INTERVAL_MS,
  nowMs = Date.now,
  read: readFiles = readPair,
}: RenewedCertificateOptions): Promise<RenewedCertificate> {
  const servers = new Set<Parameters<ServerTls['follow']>[0]>()
  let pair = await readFiles(files)
  let endsAtMs = checkPair(pair, files)
  /** What the look before found; a pair is taken when two looks agree, as its files are replaced one by one. */
  let seen = pair
  /** What was refused, so that it is told once. */
  let refused: CertificatePair | undefined
  let failure = ''
  let warnedAtMs = Number.NEGATIVE_INFINITY

  function warnOfEnd() {
    const leftMs = endsAtMs - nowMs()
    if (leftMs > WARNED_BEFORE_END_MS || nowMs() - warnedAtMs < DAY_MS) return
    warnedAtMs = nowMs()
    const what =
      leftMs > 0 ? 'the certificate ends soon' : 'the certificate has ended: clients refuse the service'
    log.warn({ certFile: files.certFile, endsAt: new Date(endsAtMs).toISOString() }, what)
  }

  function tellEnd(what: string) {
    log.info({ certFile: files.certFile, endsAt: new Date(endsAtMs).toISOString() }, what)
    warnedAtMs = Number.NEGATIVE_INFINITY
    warnOfEnd()
  }

  function take(next: CertificatePair) {
    refused = next
    endsAtMs = checkPair(next, files)
    for (const server of servers) server.setSecureContext({ ...CONTEXT_OPTIONS, ...next })
    pair = next
    refused = undefined
    tellEnd('a new certificate is in use')
  }

  async function read(use: (next: CertificatePair) => void, isAsked: boolean) {
    const before = pair
    try {
      const next = await readFiles(files)
      // Where another one was taken meanwhile, this one may be older.
      if (pair === before) use(next)
      failure = ''
    } catch (error) {
      const reason = error instanceof SetupError ? error.message : String(error)
      if (!isAsked && reason === failure) return
      failure = reason
      log.error({ reason }, 'the certificate was not renewed; the one before it stays in use')
    }
  }

  function look(next: CertificatePair) {
    const isSettled = isSame(next, seen)
    seen = next
    if (isSettled && !isSame(next, pair) && !isSame(next, refused)) take(next)
  }

  tellEnd('the certificate is in use')
  let isLooking = false
  const timer = setInterval(async () => {
    warnOfEnd()
    // A file system of the network may never answer. Look upon look would take every thread that reads files.
    if (isLooking) return
    isLooking = true
    await read(look, false)
    isLooking = false
  }, lookIntervalMs)
  timer.unref()

  return {
    get certificate() {
      return pair
    },
    follow: (server) => void servers.add(server),
    onFailedHandshake: (error) => log.debug({ reason: error.message }, 'a TLS handshake failed'),
    reload: () =>
      read((next) => {
        if (isSame(next, pair)) tellEnd('the certificate is the same as before')
        else take(next)
      }, true),
    stop: () => clearInterval(timer),
  }
}

function isSame(one: CertificatePair, other: CertificatePair | undefined): boolean {
  return other !== undefined && one.cert.equals(other.cert) && one.key.equals(other.key)
}
