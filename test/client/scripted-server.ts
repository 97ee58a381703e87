import { createServer, type IncomingHttpHeaders, type RequestListener, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createPlantStoreClient, type PlantStoreClientOptions } from '../../src/client/plant-store-client.ts'
import type { Lifetime } from '../support/http/start-app.ts'

export interface SeenRequest {
  method: string
  path: string
  headers: IncomingHttpHeaders
  body: string
  /** When it was whole, in milliseconds. */
  atMs: number
}

/** What the server does with one request, once its body has arrived. */
export type Turn = (response: ServerResponse, request: SeenRequest) => void

/** A response with JSON text. */
export const response =
  (status: number, json: string, headers: Record<string, string> = {}): Turn =>
  (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(json)
  }

/** An error response as the service sends it. */
export const reject = (status: number, error: number, headers: Record<string, string> = {}): Turn =>
  response(status, JSON.stringify({ error, message: `rejected with ${error}` }), {
    'x-request-id': `request-${error}`,
    ...headers,
  })

/** Drops the connection without a response: the outcome of the request is unknown. */
export const dropConnection: Turn = (response) => {
  response.socket?.destroy()
}

/** Accepts the request, and never responds. */
export const stall: Turn = () => undefined

/** Drops the connection midway through a response. */
export const breakOff =
  (beginning: string, headers: Record<string, string> = {}): Turn =>
  (response) => {
    response.writeHead(200, { 'content-type': 'application/json', ...headers })
    response.write(beginning, () => setImmediate(() => response.socket?.destroy()))
  }

/**
 * A server whose responses are scripted, one turn a request; the last turn is repeated. For what the real service does
 * only in trouble.
 */
export async function startScript(test: Lifetime, turns: readonly Turn[]) {
  const requests: SeenRequest[] = []
  const started = await startServer(test, (request, response) => {
    let body = ''
    request.setEncoding('utf8')
    request.on('data', (chunk) => {
      body += chunk
    })
    request.on('end', () => {
      const { method = '', url = '', headers } = request
      const seen = { method, path: url, headers, body, atMs: performance.now() }
      const turn = turns[Math.min(requests.length, turns.length - 1)]
      requests.push(seen)
      turn?.(response, seen)
    })
  })
  return { ...started, requests }
}

/** A server that does with a request as it likes, also before its body is there. */
export async function startServer(test: Lifetime, listener: RequestListener) {
  const server = createServer((request, response) => {
    request.on('error', () => undefined)
    listener(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  test.after(
    () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  )
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url,
    /** A client of it, with a time limit that a test can wait for. */
    client: (options: Partial<PlantStoreClientOptions> = {}) =>
      createPlantStoreClient({ baseUrl: url, token: 'secret', timeoutMs: 10_000, ...options }),
  }
}
