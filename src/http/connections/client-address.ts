import type { IncomingMessage } from 'node:http'
import { BlockList, isIP } from 'node:net'
import { parseAddressRanges } from '../../config/address-range.ts'

const LOOPBACK = '127.0.0.1'

/** The address of whoever sent a request, as far as it is known for certain. */
export type ClientAddress = (request: IncomingMessage) => string

/**
 * Without trusted proxies the address is that of the connection, whatever X-Forwarded-For says. Of what a trusted
 * proxy forwards, the field is read from its end, where the proxies add to it, up to the first address that is not
 * trusted: what stands before it is anybody's word. Fastify's `trustProxy` would believe X-Forwarded-Host and
 * X-Forwarded-Proto as well, and is left off.
 *
 * Whoever talks to a Unix socket is on this machine, and counts as its loopback address; a connection to a port has no
 * address only when it is closed.
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

/** Tells whether an address is one of these; none is where there are none. */
export function createTrustedProxies(trustedProxies: string | undefined): (address: string) => boolean {
  const trusted = new BlockList()
  const ranges = trustedProxies === undefined ? [] : (parseAddressRanges(trustedProxies) ?? [])
  for (const { address, bits, family } of ranges) trusted.addSubnet(address, bits, family)
  return (address) => {
    const version = isIP(address)
    return version !== 0 && trusted.check(address, version === 6 ? 'ipv6' : 'ipv4')
  }
}

/**
 * What is one client to a limit: an IPv4 address, or the first 64 bits of an IPv6 address, as whoever has one of
 * these has them all.
 */
export function networkOf(address: string): string {
  return isIP(address) === 6 ? `${groupsOf(address).slice(0, 4).map(inHex).join(':')}::/64` : address
}

/** An address without the port that some proxies add, and without the clothes of IPv6 where it is one of IPv4. */
export function plainAddress(text: string): string {
  const address = /^\[([^\]]+)\](?::\d+)?$/.exec(text)?.[1] ?? text.replace(/^([\d.]+):\d+$/, '$1')
  if (isIP(address) !== 6) return address
  const groups = groupsOf(address)
  const [high = 0, low = 0] = groups.slice(6)
  const isMapped = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff
  return isMapped ? [high >> 8, high & 255, low >> 8, low & 255].join('.') : address
}

/** The eight groups of an IPv6 address in any of its forms (RFC 4291 §2.2). */
function groupsOf(address: string): number[] {
  const inGroups = address
    .replace(/%.*$/, '')
    .replace(
      /(\d+)\.(\d+)\.(\d+)\.(\d+)$/,
      (_all, a, b, c, d) => `${inHex(a * 256 + +b)}:${inHex(c * 256 + +d)}`,
    )
  const [before = [], after = []] = inGroups
    .split('::')
    .map((half) => (half === '' ? [] : half.split(':').map((group) => Number.parseInt(group, 16))))
  return [...before, ...new Array<number>(8 - before.length - after.length).fill(0), ...after]
}

function inHex(group: number): string {
  return group.toString(16)
}
