import type { Socket } from 'node:net'
import { createTrustedProxies, networkOf, plainAddress } from './client-address.ts'
import type { OnDropped } from './dropped-connections.ts'

export interface ConnectionLimitSettings {
  /** Connections that may be open; 0 for any number. */
  connectionsMax: number
  /** The same for one address; trusted proxies are exempt. */
  connectionsPerAddressMax: number
  trustedProxies: string | undefined
}

/**
 * Takes each new connection, and closes at once what is one too many. An answer to it would have to wait for a
 * request, and behind it for its reader, which is just what there is no room for.
 */
export function createConnectionLimit(
  { connectionsMax, connectionsPerAddressMax, trustedProxies }: ConnectionLimitSettings,
  onDropped: OnDropped,
): (socket: Socket) => void {
  const isTrusted = createTrustedProxies(trustedProxies)
  const openByNetwork = new Map<string, number>()
  let open = 0

  function networkIn({ remoteAddress }: Socket): string | undefined {
    // On a Unix socket there is none: whoever may use it is known to who runs the service.
    if (remoteAddress === undefined) return undefined
    const address = plainAddress(remoteAddress)
    return isTrusted(address) ? undefined : networkOf(address)
  }

  return (socket) => {
    const network = networkIn(socket)
    const ofNetwork = network === undefined ? 0 : (openByNetwork.get(network) ?? 0)
    const isOfTooMany = connectionsPerAddressMax > 0 && ofNetwork >= connectionsPerAddressMax
    if (isOfTooMany || (connectionsMax > 0 && open >= connectionsMax)) {
      onDropped(isOfTooMany ? 'connections-of-address' : 'connections', socket.remoteAddress)
      socket.destroy()
      return
    }
    open++
    if (network !== undefined) openByNetwork.set(network, ofNetwork + 1)
    socket.once('close', () => {
      open--
      if (network === undefined) return
      const left = (openByNetwork.get(network) ?? 1) - 1
      if (left === 0) openByNetwork.delete(network)
      else openByNetwork.set(network, left)
    })
  }
}
