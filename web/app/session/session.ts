import {
  createPlantStoreClient,
  type PlantStoreClient,
  RequestError,
  type Scope,
  type Token,
} from '../../../src/client/plant-store-client.ts'
import { failureText } from '../parts/failure-text.ts'
import { texts } from '../parts/texts.ts'

/** The signed-in token, a client that uses it, and its permissions. */
export interface Session {
  client: PlantStoreClient
  /** A client of the same session that sends with another `fetch`, or with another number of tries. */
  clientOver(fetch?: typeof globalThis.fetch, triesMax?: number): PlantStoreClient
  token: Token
  may(scope: Scope): boolean
  /** Continues the session with a new secret of the token, and remembers it where the old one was. */
  renew(secret: string): void
}

/** The web app has views only for these scopes. */
const SCOPES_OF_VIEWS: readonly Scope[] = ['plants:read', 'tokens:manage']
const KEY = 'plantstore-token'
const UNAUTHORIZED = 401
/** Shorter than the client's default: a person gets a message and "Try again" sooner. */
const TIMEOUT_MS = 15_000
const TRIES_MAX = 4

/** The base URL of the service, without a trailing slash. */
export const BASE_URL = location.origin + (document.documentElement.dataset.basePath ?? '')

type StorageName = 'sessionStorage' | 'localStorage'

/** Calls `use` with a storage. Returns undefined if the browser blocks it: then even reading the property throws. */
function withStorage<T>(name: StorageName, use: (storage: Storage) => T): T | undefined {
  try {
    return use(globalThis[name])
  } catch (error) {
    if (error instanceof DOMException) return undefined
    throw error
  }
}

function readToken(name: StorageName): string | undefined {
  return withStorage(name, (storage) => storage.getItem(KEY)) ?? undefined
}

/** The token remembered by this tab, or else by this browser. */
export function rememberedToken(): string | undefined {
  return readToken('sessionStorage') ?? readToken('localStorage')
}

/** Remembers a token in this browser or only in this tab. If storage is blocked, it is lost on reload. */
export function rememberToken(token: string, isForBrowser: boolean): void {
  forgetToken()
  withStorage(isForBrowser ? 'localStorage' : 'sessionStorage', (storage) => storage.setItem(KEY, token))
}

/** Calls `onChange` when another tab forgets or replaces the token remembered in this browser. */
export function watchRememberedToken(
  onChange: (before: string, now: string | undefined) => void,
): () => void {
  const listener = ({ key, oldValue, newValue }: StorageEvent) => {
    if (key === KEY && oldValue !== null) onChange(oldValue, newValue ?? undefined)
  }
  addEventListener('storage', listener)
  return () => removeEventListener('storage', listener)
}

export function forgetToken(): void {
  withStorage('sessionStorage', (storage) => storage.removeItem(KEY))
  withStorage('localStorage', (storage) => storage.removeItem(KEY))
}

/** Remembers the new secret of a token where the old one was. */
function rememberRenewed(token: string): void {
  rememberToken(token, readToken('sessionStorage') === undefined)
}

export interface SessionOptions {
  secret: string
  /** The current secret. Retries of earlier requests use it too. */
  currentSecret(): string
  /** Called when the token has a new secret. */
  onRenewal(secret: string): void
  /** Called when the service rejects the token after the sign-in. */
  onEnd(): void
  signal?: AbortSignal | undefined
}

/** Signs in. Throws a SignInError, or the reason of the signal. */
export async function openSession({
  secret,
  currentSecret,
  onRenewal,
  onEnd,
  signal,
}: SessionOptions): Promise<Session> {
  let isOpen = false
  const clientOver = (send: typeof fetch = (...request) => fetch(...request), triesMax = TRIES_MAX) =>
    createPlantStoreClient({
      baseUrl: BASE_URL,
      token: () => (isOpen ? currentSecret() : secret),
      timeoutMs: TIMEOUT_MS,
      triesMax,
      async fetch(...request) {
        const response = await send(...request)
        if (response.status === UNAUTHORIZED && isOpen) onEnd()
        return response
      },
    })
  const client = clientOver()
  const token = await client.getOwnToken({ signal }).catch((error: unknown) => {
    if (signal?.aborted) throw error
    throw signInFailure(error)
  })
  if (!token.scopes.some((scope) => SCOPES_OF_VIEWS.includes(scope))) {
    throw new SignInError(texts.signIn.tooNarrow, true)
  }
  isOpen = true
  return {
    client,
    clientOver,
    token,
    may: (scope) => token.scopes.includes(scope),
    renew(renewed) {
      rememberRenewed(renewed)
      onRenewal(renewed)
    },
  }
}

/** Why signing in failed. `message` is for people. */
export class SignInError extends Error {
  /** Whether the token can never work, so that it is forgotten. */
  readonly isTokenRejected: boolean

  constructor(message: string, isTokenRejected: boolean) {
    super(message)
    this.isTokenRejected = isTokenRejected
  }
}

function signInFailure(error: unknown): SignInError {
  if (error instanceof RequestError && error.status === UNAUTHORIZED) {
    return new SignInError(texts.signIn.invalid, true)
  }
  if (error instanceof RequestError && (error.kind === 'connection' || error.kind === 'timeout')) {
    return new SignInError(texts.signIn.unreachable, false)
  }
  if (error instanceof TypeError) return new SignInError(texts.signIn.malformed, true)
  return new SignInError(failureText(error), false)
}
