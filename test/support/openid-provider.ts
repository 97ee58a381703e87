import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose'
import { Provider } from 'oidc-provider'
import type { Lifetime } from './http/start-app.ts'

export const AUDIENCE = 'https://plants.example'
type Claims = Readonly<Record<string, unknown>>

const CLIENT = { client_id: 'greenhouse', client_secret: 'greenhouse-secret' }

/** A key that the provider signs with, private part included. */
export type ProviderKey = JWK & { kid: string; alg: string }

/** A real OpenID provider (npm `oidc-provider`) on a port of its own, whose keys a test may change. */
export interface OpenIdProvider {
  issuer: string
  readonly key: ProviderKey
  /** Paths that were asked for, since the last look. */
  requests(): string[]
  /** An access token as a client gets it, by client credentials. */
  accessToken(scope?: string): Promise<string>
  /** A token with these claims over good ones, signed as the provider does; undefined leaves a claim out. */
  sign(claims?: Claims, header?: Record<string, unknown>, key?: ProviderKey): Promise<string>
  /** Starts again with another key, of another name unless it is given. */
  changeKey(kid?: string): Promise<void>
  stop(): Promise<void>
  start(): Promise<void>
}

let made = 0

export async function newKey(kid = `key-${++made}`, alg = 'RS256'): Promise<ProviderKey> {
  const { privateKey } = await generateKeyPair(alg, { extractable: true })
  return { ...(await exportJWK(privateKey)), kid, alg, use: 'sig' }
}

/** Starts a provider; it stops when the test ends. */
export async function startOpenIdProvider(test: Lifetime): Promise<OpenIdProvider> {
  let handler: RequestListener = () => assert.fail('no request comes before there is a provider')
  let seen: string[] = []
  const server = createServer((request, response) => {
    seen.push(request.url ?? '')
    handler(request, response)
  })
  let port = 0
  async function start() {
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
    port = (server.address() as AddressInfo).port
  }
  async function stop() {
    if (!server.listening) return
    server.close()
    server.closeAllConnections()
    await once(server, 'close')
  }
  await start()
  test.after(stop)
  const issuer = `http://127.0.0.1:${port}`
  let key: ProviderKey
  async function changeKey(kid?: string) {
    key = await newKey(kid)
    handler = createProvider(issuer, key).callback()
  }
  await changeKey()
  // Its first response takes long on a busy machine, and the service waits for a few seconds only.
  await (await fetch(`${issuer}/jwks`)).arrayBuffer()
  seen = []

  return {
    issuer,
    get key() {
      return key
    },
    requests() {
      const paths = seen
      seen = []
      return paths
    },
    async accessToken(scope = 'plants:read plants:write') {
      const { client_id, client_secret } = CLIENT
      const body = new URLSearchParams({ grant_type: 'client_credentials', client_id, client_secret, scope })
      body.set('resource', AUDIENCE)
      const made = await fetch(`${issuer}/token`, { method: 'POST', body })
      const { access_token: token } = (await made.json()) as { access_token?: string }
      assert.ok(token !== undefined, `the provider responded with ${made.status}`)
      return token
    },
    sign: (claims, header, signedWith = key) => signClaims(issuer, signedWith, claims, header),
    changeKey,
    stop,
    start,
  }
}

async function signClaims(
  issuer: string,
  key: ProviderKey,
  claims: Claims = {},
  header: Record<string, unknown> = {},
): Promise<string> {
  const now = Math.floor(Date.now() / 1000)
  const usual = {
    iss: issuer,
    aud: AUDIENCE,
    sub: 'somebody',
    iat: now,
    exp: now + 300,
    scope: 'plants:read',
  }
  const payload = Object.fromEntries(
    Object.entries({ ...usual, ...claims }).filter(([, value]) => value !== undefined),
  )
  return new SignJWT(payload)
    .setProtectedHeader({ alg: key.alg, kid: key.kid, typ: 'at+jwt', ...header })
    .sign(key)
}

function createProvider(issuer: string, key: ProviderKey): Provider {
  return new Provider(issuer, {
    clients: [{ ...CLIENT, grant_types: ['client_credentials'], redirect_uris: [], response_types: [] }],
    clientAuthMethods: ['client_secret_post'],
    clientDefaults: { token_endpoint_auth_method: 'client_secret_post' },
    jwks: { keys: [key] },
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: () => ({
          scope: 'plants:read plants:write tokens:manage garden.read',
          audience: AUDIENCE,
          accessTokenFormat: 'jwt',
          accessTokenTTL: 300,
          jwt: { sign: { alg: 'RS256' } },
        }),
      },
    },
  })
}
