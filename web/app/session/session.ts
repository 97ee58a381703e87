import {
  createPlantStoreClient,
  type PlantStoreClient,
  RequestError,
  type Scope,
  type Token,
} from '../../../src/client/plant-store-client.ts'
import { failureText } from '../parts/failure-text.ts'
import { texts } from '../parts/texts.ts'

/** Somebody who is signed in, and what they may do. */
export interface Session {
  client: PlantStoreClient
  /** A client of the same session whose requests go through another `fetch`. */
  clientOver(fetch: typeof globalThis.fetch): PlantStoreClient
  token: Token
  may(scope: Scope): boolean
  /** The token has another secret from now on: the session goes on with it, and so does what is remembered. */
  renew(secret: string): void
}

/** The page itself does nothing for other scopes. */
const SCOPES_OF_PAGE: readonly Scope[] = ['plants:read', 'tokens:manage']
const KEY = 'plantstore-token'
const UNAUTHORIZED = 401
/** A person waits: rather a message and "Try again" than a wait of half a minute. */
const TIMEOUT_MS = 15_000
const TRIES_MAX = 4

/** Where the service is: the origin of the page, and the path of its base URL. */
export const BASE_URL = location.origin + (document.documentElement.dataset.basePath ?? '')

type StorageName = 'sessionStorage' | 'localStorage'

/**
 * What `use` makes of a storage; undefined where the browser keeps nothing for pages, which even its mention throws
 * for.
 */
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

/** The token that this tab, or else this browser, remembers. */
export function rememberedToken(): string | undefined {
  return readToken('sessionStorage') ?? readToken('localStorage')
}

/** Where nothing can be kept, the token lasts until the page is loaded again. */
export function rememberToken(token: string, isForBrowser: boolean): void {
  forgetToken()
  withStorage(isForBrowser ? 'localStorage' : 'sessionStorage', (storage) => storage.setItem(KEY, token))
}

/** Tells of the token that this browser remembers when another tab forgets it, or has got another one for it. */
export function watchRememberedToken(tell: (before: string, now: string | undefined) => void): () => void {
  const look = ({ key, oldValue, newValue }: StorageEvent) => {
    if (key === KEY && oldValue !== null) tell(oldValue, newValue ?? undefined)
  }
  addEventListener('storage', look)
  return () => removeEventListener('storage', look)
}

export function forgetToken(): void {
  withStorage('sessionStorage', (storage) => storage.removeItem(KEY))
  withStorage('localStorage', (storage) => storage.removeItem(KEY))
}

/** Remembers the new secret of a token where the old one was. */
function rememberInstead(token: string): void {
  rememberToken(token, readToken('sessionStorage') === undefined)
}

export interface SessionOptions {
  secret: string
  /** The token of whoever is signed in by then: what was begun before goes on with it. */
  currentSecret(): string
  /** Called when the token in use gets another secret. */
  onRenewal(secret: string): void
  /** Called when the service refuses the token later on. */
  onEnd(): void
  signal?: AbortSignal | undefined
}

/** Signs in. Throws an Error whose message is for people; `isRefusal` tells whether the token is of no use. */
export async function openSession({
  secret,
  currentSecret,
  onRenewal,
  onEnd,
  signal,
}: SessionOptions): Promise<Session> {
  let isOpen = false
  const clientOver = (send: typeof fetch) =>
    createPlantStoreClient({
      baseUrl: BASE_URL,
      token: () => (isOpen ? currentSecret() : secret),
      timeoutMs: TIMEOUT_MS,
      triesMax: TRIES_MAX,
      async fetch(...request) {
        const answer = await send(...request)
        if (answer.status === UNAUTHORIZED && isOpen) onEnd()
        return answer
      },
    })
  const client = clientOver((...request) => fetch(...request))
  const token = await client.getOwnToken({ signal }).catch((error: unknown) => {
    if (signal?.aborted) throw error
    throw signInFailure(error)
  })
  if (!token.scopes.some((scope) => SCOPES_OF_PAGE.includes(scope))) {
    throw new SignInError(texts.signIn.tooNarrow(token.scopes.join(', ')), true)
  }
  isOpen = true
  return {
    client,
    clientOver,
    token,
    may: (scope) => token.scopes.includes(scope),
    renew(renewed) {
      rememberInstead(renewed)
      onRenewal(renewed)
    },
  }
}

/** Why nobody was let in, in words for people. */
export class SignInError extends Error {
  readonly isRefusal: boolean

  constructor(message: string, isRefusal: boolean) {
    super(message)
    this.isRefusal = isRefusal
  }
}

function signInFailure(error: unknown): SignInError {
  if (error instanceof RequestError && error.status === UNAUTHORIZED) {
    return new SignInError(texts.signIn.refused, true)
  }
  if (error instanceof RequestError && (error.kind === 'connection' || error.kind === 'timeout')) {
    return new SignInError(texts.signIn.gone, false)
  }
  if (error instanceof TypeError) return new SignInError(texts.signIn.malformed, true)
  return new SignInError(failureText(error), false)
}
