import type { ServerOptions } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { Socket } from 'node:net'
import type { SecureContextOptions, TLSSocket, TlsOptions } from 'node:tls'

/**
 * How long a handshake may take: a connection costs a file descriptor, and nobody has said yet who they are. As long as
 * the header fields of a request have by default.
 */
const HANDSHAKE_TIMEOUT_MS = 10_000

/** What every certificate is used with: TLS 1.2 at least, whatever NODE_OPTIONS lets through (RFC 8996). */
export const CONTEXT_OPTIONS = { minVersion: 'TLSv1.2' } as const satisfies SecureContextOptions

/** HTTP/1.1 is all that is offered (ALPN, RFC 7301). */
const TLS_OPTIONS = {
  ...CONTEXT_OPTIONS,
  ALPNProtocols: ['http/1.1'],
  handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
} as const satisfies TlsOptions

/** A certificate with its key, and those it hangs on behind it, in PEM. */
export interface CertificatePair {
  cert: Buffer
  key: Buffer
}

/** What a server needs to speak TLS. */
export interface ServerTls {
  /** What it begins with. */
  readonly certificate: CertificatePair
  /** Takes a server that is to have each certificate that comes after. */
  follow(server: Pick<Server, 'setSecureContext'>): void
  /** Called when a handshake fails, for plain HTTP too. */
  onFailedHandshake(error: Error): void
}

/** A server that speaks HTTP/1.1 over TLS. */
export function createTlsServer(options: ServerOptions, tls: ServerTls): Server {
  // A client's end of its side in TLS (close_notify) would else be the end of the connection.
  const server = createServer({ ...options, ...TLS_OPTIONS, ...tls.certificate, allowHalfOpen: true })
  keepHandshakesInBounds(server, tls)
  tls.follow(server)
  return server
}

/**
 * Closes what makes no handshake without a word, and what is still making one when connections are closed: Node knows
 * of a connection only when the handshake is over, and would wait for it.
 */
function keepHandshakesInBounds(server: Server, { onFailedHandshake }: ServerTls): void {
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
  // Node would have it answered like HTTP that is broken.
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
