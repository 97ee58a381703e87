import { createRemoteJWKSet, customFetch } from 'jose'
import type { Logger } from 'pino'
import { isSecureUrl } from '../config/setting.ts'

/** For discovery and keys together: a request waits for both. */
const FETCH_TIMEOUT_MS = 3_000

/** After a failure requests are rejected at once for this long, instead of waiting each. */
const RETRY_AFTER_MS = 2_000

/** Older keys are fetched again: a withdrawn key is trusted no longer than this. */
export const KEYS_AGE_MAX_MS = 600_000

/** A token with an unknown key causes a fetch, but not sooner than this: any client can invent one. */
const COOLDOWN_MS = 10_000

/** Both documents have some kilobytes; a larger one is rejected. */
const DOCUMENT_BYTES_MAX = 1024 * 1024

/** The provider does not respond, or with an invalid response; the cause has the reason. Logged where it is thrown. */
export class ProviderUnavailable extends Error {
  override readonly name = 'ProviderUnavailable'
}

export interface ProviderKeysOptions {
  /** The issuer, exactly as in the provider's documents. */
  issuer: string
  log: Pick<Logger, 'error' | 'info'>
  /** Times other than the defaults. */
  cooldownMs?: number
  keysAgeMaxMs?: number
  retryAfterMs?: number
  fetchTimeoutMs?: number
}

/** The signing keys of a provider, as jose requests them. */
export type ProviderKeys = ReturnType<typeof createProviderKeys>

/**
 * The keys that the provider publishes (OpenID Connect Discovery 1.0 §4). They are fetched on demand, when they are too
 * old, and when a token names an unknown key. Throws ProviderUnavailable, logged once until the provider responds
 * again.
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
  let failsUntilMs = 0

  // Discovery each time, so that keys at a new URL are found.
  async function fetchKeys(url: string, { headers, signal }: FetchOptions): Promise<Response> {
    if (performance.now() < failsUntilMs) throw new ProviderUnavailable()
    try {
      const discovered = await fetchJson(url, { headers, signal })
      const keys = await fetchJson(keysUrlOf(discovered, issuer), { headers, signal })
      if (!Array.isArray(keys.keys)) throw new Error('its jwks_uri has no set of keys')
      if (isUnavailable) log.info({ issuer }, 'the OpenID provider responds again')
      isUnavailable = false
      return Response.json(keys)
    } catch (error) {
      failsUntilMs = performance.now() + retryAfterMs
      if (!isUnavailable) {
        log.error(
          { issuer, reason: reasonOf(error) },
          'the OpenID provider does not respond correctly; its new tokens are rejected with 503',
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

/** The messages of an error and its causes, without stacks. The cause of a `fetch` error has the reason. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause === undefined ? error.message : `${error.message}: ${reasonOf(error.cause)}`
}

interface FetchOptions {
  headers: Headers
  signal: AbortSignal
}

/** The URL of the keys. Throws if the document is from another issuer (§4.3). */
function keysUrlOf(discovered: Record<string, unknown>, issuer: string): string {
  const { issuer: named, jwks_uri: keysUrl } = discovered
  if (named !== issuer) {
    throw new Error(
      `its issuer is ${JSON.stringify(named)}: set PLANTSTORE_OIDC_ISSUER to exactly that, including a slash at the end`,
    )
  }
  if (typeof keysUrl !== 'string' || !isSecureUrl(keysUrl)) {
    throw new Error('its jwks_uri is not an https URL')
  }
  return keysUrl
}

async function fetchJson(url: string, { headers, signal }: FetchOptions): Promise<Record<string, unknown>> {
  const response = await fetch(url, { headers, signal, redirect: 'manual' })
  if (response.status !== 200 || response.body === null) {
    await response.body?.cancel()
    throw new Error(`${url} responded with ${response.status}`)
  }
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of response.body) {
    bytes += chunk.length
    if (bytes > DOCUMENT_BYTES_MAX) throw new Error(`${url} has more than ${DOCUMENT_BYTES_MAX} bytes`)
    chunks.push(chunk)
  }
  const document: unknown = JSON.parse(Buffer.concat(chunks).toString('utf8'))
  if (typeof document !== 'object' || document === null) throw new Error(`${url} is not a JSON object`)
  return document as Record<string, unknown>
}
