import { createRemoteJWKSet, customFetch } from 'jose'
import type { Logger } from 'pino'
import { isSecureUrl } from '../config/setting.ts'

/** Time for discovery and keys together: a request waits for them. */
const FETCH_TIMEOUT_MS = 3_000

/** After keys did not come, requests are refused at once for so long, and do not each wait for them. */
const RETRY_AFTER_MS = 2_000

/** Keys that are older are fetched again: one that the provider withdrew is trusted no longer than this. */
export const KEYS_AGE_MAX_MS = 600_000

/** A token with an unknown key makes keys be fetched again, but not sooner: anybody can make one up. */
const COOLDOWN_MS = 10_000

/** Both documents are some kilobytes; a larger one is none. */
const DOCUMENT_BYTES_MAX = 1024 * 1024

/** The provider does not answer, or not with what it should; the cause says what. Logged where it is thrown. */
export class ProviderUnavailable extends Error {
  override readonly name = 'ProviderUnavailable'
}

export interface ProviderKeysOptions {
  /** The issuer, exactly as the provider calls itself. */
  issuer: string
  log: Pick<Logger, 'error' | 'info'>
  /** Other times than the usual ones. */
  cooldownMs?: number
  keysAgeMaxMs?: number
  retryAfterMs?: number
  fetchTimeoutMs?: number
}

/** The keys that a provider signs with, as jose asks for them. Fetched when they are wanted. */
export type ProviderKeys = ReturnType<typeof createProviderKeys>

/**
 * The keys that the provider publishes (OpenID Connect Discovery 1.0 §4), fetched when they are asked for, when they
 * grow old, and when a token names one that is unknown. Throws ProviderUnavailable, which is logged once until the
 * provider answers again.
 */
export function createProviderKeys({
  issuer,
  log,
  cooldownMs = COOLDOWN_MS,
  keysAgeMaxMs = KEYS_AGE_MAX_MS,
  retryAfterMs = RETRY_AFTER_MS,
  fetchTimeoutMs = FETCH_TIMEOUT_MS,
}: ProviderKeysOptions) {
  let isUnavailable = false
  /** By `performance.now()`, as the clock may be set back. */
  let refusedUntilMs = 0

  // Discovery each time, so that keys which moved elsewhere are found.
  async function fetchKeys(url: string, { headers, signal }: FetchOptions): Promise<Response> {
    if (performance.now() < refusedUntilMs) throw new ProviderUnavailable()
    try {
      const discovered = await fetchJson(url, { headers, signal })
      const keys = await fetchJson(keysUrlOf(discovered, issuer), { headers, signal })
      if (!Array.isArray(keys.keys)) throw new Error('what is at its jwks_uri is no set of keys')
      if (isUnavailable) log.info({ issuer }, 'the OpenID provider answers again')
      isUnavailable = false
      return Response.json(keys)
    } catch (error) {
      refusedUntilMs = performance.now() + retryAfterMs
      if (!isUnavailable) {
        log.error(
          { issuer, reason: reasonOf(error) },
          'the OpenID provider does not answer as it should; its new tokens are refused with 503',
        )
      }
      isUnavailable = true
      throw new ProviderUnavailable(undefined, { cause: error })
    }
  }

  // §4.1: a slash at the end goes before the path is appended.
  const url = new URL(`${issuer.replace(/\/+$/, '')}/.well-known/openid-configuration`)
  return createRemoteJWKSet(url, {
    timeoutDuration: fetchTimeoutMs,
    cooldownDuration: cooldownMs,
    cacheMaxAge: keysAgeMaxMs,
    [customFetch]: fetchKeys,
  })
}

/** Without the stack, which says nothing of the provider. What `fetch` fails of stands behind it. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause === undefined ? error.message : `${error.message}: ${reasonOf(error.cause)}`
}

interface FetchOptions {
  headers: Headers
  signal: AbortSignal
}

/** Where the keys are. The document must be of the issuer that it was asked for (§4.3). */
function keysUrlOf(discovered: Record<string, unknown>, issuer: string): string {
  const { issuer: named, jwks_uri: keysUrl } = discovered
  if (named !== issuer) {
    throw new Error(
      `it calls itself ${JSON.stringify(named)}: set PLANTSTORE_OIDC_ISSUER to that, to the last slash`,
    )
  }
  if (typeof keysUrl !== 'string' || !isSecureUrl(keysUrl)) {
    throw new Error('its jwks_uri is no https URL')
  }
  return keysUrl
}

async function fetchJson(url: string, { headers, signal }: FetchOptions): Promise<Record<string, unknown>> {
  const answer = await fetch(url, { headers, signal, redirect: 'manual' })
  if (answer.status !== 200 || answer.body === null) {
    await answer.body?.cancel()
    throw new Error(`${url} answered ${answer.status}`)
  }
  const pieces: Uint8Array[] = []
  let bytes = 0
  for await (const piece of answer.body) {
    bytes += piece.length
    if (bytes > DOCUMENT_BYTES_MAX) throw new Error(`${url} answered more than ${DOCUMENT_BYTES_MAX} bytes`)
    pieces.push(piece)
  }
  const document: unknown = JSON.parse(Buffer.concat(pieces).toString('utf8'))
  if (typeof document !== 'object' || document === null) throw new Error(`${url} answered no JSON object`)
  return document as Record<string, unknown>
}
