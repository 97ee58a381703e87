import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import { compile } from '@fastify/proxy-addr'
import ipaddr from 'ipaddr.js'

const LOOPBACK = '127.0.0.1'

/** The address of the client that sent a request, as far as it can be trusted. */
export type ClientAddress = (request: IncomingMessage) => string

/**
 * Without trusted proxies the address is the one of the connection; `X-Forwarded-For` is ignored. Behind trusted
 * proxies it is the last address of that field that is not trusted: proxies append to it, and any client can forge the
 * entries before it. Fastify's `trustProxy` is off, as it would also trust X-Forwarded-Host and X-Forwarded-Proto.
 *
 * A client of the Unix socket has the loopback address. A connection to a port has no address once it is closed.
 */
export function createClientAddress(trustedProxies: string | undefined, unixSocket?: string): ClientAddress {
  const isTrusted = createTrustedProxies(trustedProxies)
  const withoutAddress = unixSocket === undefined ? '' : LOOPBACK

  return ({ socket, headers }) => {
    let address = plainAddress(socket.remoteAddress ?? withoutAddress)
    if (trustedProxies === undefined) return address
    const forwarded = headers['x-forwarded-for']
    const hops = String(forwarded ?? '').split(',')
    for (const hop of hops.reverse()) {
      const before = plainAddress(hop.trim())
      if (!isTrusted(address) || isIP(before) === 0) break
      address = before
    }
    return address
  }
}

/** Returns whether an address is in the list of the setting `trustedProxies`; without a list no address is. */
export function createTrustedProxies(trustedProxies: string | undefined): (address: string) => boolean {
  if (trustedProxies === undefined) return () => false
  const isTrusted = compile(trustedProxies.split(',').map((entry) => entry.trim()))
  return (address) => isTrusted(address, 0)
}

/** The unit of a limit: an IPv4 address, or the /64 network of an IPv6 address, as a client usually has all of it. */
export function networkOf(address: string): string {
  if (isIP(address) !== 6) return address
  const withoutZone = address.replace(/%.*$/, '')
  return `${ipaddr.IPv6.networkAddressFromCIDR(`${withoutZone}/64`)}/64`
}

/** An address without the port that some proxies append; an IPv4 address inside of an IPv6 address as IPv4. */
export function plainAddress(text: string): string {
  const address = /^\[([^\]]+)\](?::\d+)?$/.exec(text)?.[1] ?? text.replace(/^([\d.]+):\d+$/, '$1')
  return isIP(address) === 6 ? ipaddr.process(address).toString() : address
}
