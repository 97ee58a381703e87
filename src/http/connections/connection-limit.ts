import type { Socket } from 'node:net'
import { createTrustedProxies, networkOf, plainAddress } from './client-address.ts'
import type { OnDropped } from './dropped-connections.ts'

export interface ConnectionLimitSettings {
  /** Maximum number of open connections; 0: unlimited. */
  connectionsMax: number
  /** The same per address; trusted proxies are exempt. */
  connectionsPerAddressMax: number
  trustedProxies: string | undefined
}

/**
 * Creates a listener for new connections that drops those over the limits at once. A response would have to wait for a
 * request and then for its reader, so it would need the connection that the limit denies.
 */
export function createConnectionLimit(
  { connectionsMax, connectionsPerAddressMax, trustedProxies }: ConnectionLimitSettings,
  onDropped: OnDropped,
): (socket: Socket) => void {
  const isTrusted = createTrustedProxies(trustedProxies)
  const openByNetwork = new Map<string, number>()
  let open = 0

  function networkIn({ remoteAddress }: Socket): string | undefined {
    // A connection on a Unix socket has no address. The operator controls who has access to it.
    if (remoteAddress === undefined) return undefined
    const address = plainAddress(remoteAddress)
    return isTrusted(address) ? undefined : networkOf(address)
  }

  return (socket) => {
    const network = networkIn(socket)
    const ofNetwork = network === undefined ? 0 : (openByNetwork.get(network) ?? 0)
    const isOverAddressLimit = connectionsPerAddressMax > 0 && ofNetwork >= connectionsPerAddressMax
    if (isOverAddressLimit || (connectionsMax > 0 && open >= connectionsMax)) {
      onDropped(isOverAddressLimit ? 'connections-of-address' : 'connections', socket.remoteAddress)
      socket.destroy()
      return
    }
    open++
    if (network !== undefined) openByNetwork.set(network, ofNetwork + 1)
    socket.once('close', () => {
      open--
      if (network === undefined) return
      const stillOpen = (openByNetwork.get(network) ?? 1) - 1
      if (stillOpen === 0) openByNetwork.delete(network)
      else openByNetwork.set(network, stillOpen)
    })
  }
}
