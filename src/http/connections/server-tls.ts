import type { ServerOptions } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { Socket } from 'node:net'
import type { SecureContextOptions, TLSSocket, TlsOptions } from 'node:tls'

/**
 * Time limit for a handshake, the same as the default for header fields: a connection costs a file descriptor before
 * the client is authenticated.
 */
const HANDSHAKE_TIMEOUT_MS = 10_000

/** Options of every certificate: TLS 1.2 at least, even if NODE_OPTIONS allows older versions (RFC 8996). */
export const CONTEXT_OPTIONS = { minVersion: 'TLSv1.2' } as const satisfies SecureContextOptions

/** Only HTTP/1.1 is offered (ALPN, RFC 7301). */
const TLS_OPTIONS = {
  ...CONTEXT_OPTIONS,
  ALPNProtocols: ['http/1.1'],
  handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
} as const satisfies TlsOptions

/** A certificate followed by its chain, and its private key, in PEM. */
export interface CertificatePair {
  cert: Buffer
  key: Buffer
}

/** The certificate of a server, and its renewals. */
export interface ServerTls {
  /** The first certificate. */
  readonly certificate: CertificatePair
  /** Sets each later certificate on the server. */
  follow(server: Pick<Server, 'setSecureContext'>): void
  /** Called when a handshake fails, for plain HTTP too. */
  onFailedHandshake(error: Error): void
}

/** Creates a server for HTTP/1.1 over TLS. */
export function createTlsServer(options: ServerOptions, tls: ServerTls): Server {
  // Otherwise a client that closes its side in TLS (close_notify) would close the connection.
  const server = createServer({ ...options, ...TLS_OPTIONS, ...tls.certificate, allowHalfOpen: true })
  limitHandshakes(server, tls)
  tls.follow(server)
  return server
}

/**
 * Closes connections whose handshake fails, without a response. When the server closes its connections, closes those in
 * a handshake as well: Node does not track them before the handshake is complete, and would wait for them.
 */
function limitHandshakes(server: Server, { onFailedHandshake }: ServerTls): void {
  const handshakes = new Map<string, Socket>()
  const nameOf = ({ remoteAddress, remotePort }: Socket) => `${remoteAddress} ${remotePort}`
  server.on('connection', (socket: Socket) => {
    const name = nameOf(socket)
    handshakes.set(name, socket)
    socket.once('close', () => {
      if (handshakes.get(name) === socket) handshakes.delete(name)
    })
  })
  server.on('secureConnection', (socket) => handshakes.delete(nameOf(socket)))
  // Node would respond to it as to malformed HTTP.
  server.removeAllListeners('tlsClientError')
  server.on('tlsClientError', (error: Error, socket: TLSSocket) => {
    onFailedHandshake(error)
    socket.destroy()
  })
  for (const close of ['closeIdleConnections', 'closeAllConnections'] as const) {
    const closeOthers = server[close].bind(server)
    server[close] = () => {
      closeOthers()
      for (const socket of handshakes.values()) socket.destroy()
    }
  }
}
