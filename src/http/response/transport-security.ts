import type { Duplex } from 'node:stream'
import type { TLSSocket } from 'node:tls'

/**
 * How long a browser that was here over TLS asks for nothing of this host over plain HTTP: a year, as is usual. Other
 * names below that of the host are not ours to decide on, so `includeSubDomains` is not said.
 */
const STRICT_TRANSPORT_SECONDS = 31_536_000

const STRICT_TRANSPORT = ['strict-transport-security', `max-age=${STRICT_TRANSPORT_SECONDS}`]
const NONE: string[] = []

/**
 * What an answer says of the transport (RFC 6797 §7.2): something where the service speaks TLS itself, nothing over
 * plain HTTP. Behind a proxy it is the proxy's to say.
 */
export function transportSecurityFields(socket: Duplex): string[] {
  return (socket as Partial<TLSSocket>).encrypted ? STRICT_TRANSPORT : NONE
}
