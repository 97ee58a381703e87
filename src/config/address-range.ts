import { isIP } from 'node:net'

/** The addresses that begin with the same bits as `address`. */
export interface AddressRange {
  address: string
  bits: number
  family: 'ipv4' | 'ipv6'
}

/** Words for the addresses that reach no further than a machine, a link or a site. */
const NAMED_RANGES: ReadonlyMap<string, readonly string[]> = new Map([
  ['loopback', ['127.0.0.0/8', '::1']],
  ['linklocal', ['169.254.0.0/16', 'fe80::/10']],
  ['uniquelocal', ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7']],
])

/**
 * Reads a list with commas of addresses (`192.0.2.1`, `2001:db8::1`), ranges (`10.0.0.0/8`) and the words
 * loopback, linklocal and uniquelocal. Undefined when it is anything else. A range of every address is none:
 * whoever trusts everybody may as well not ask.
 */
export function parseAddressRanges(text: string): AddressRange[] | undefined {
  const ranges: AddressRange[] = []
  for (const entry of text.split(',').map((part) => part.trim())) {
    for (const one of NAMED_RANGES.get(entry) ?? [entry]) {
      const range = parseRange(one)
      if (range === undefined) return undefined
      ranges.push(range)
    }
  }
  return ranges
}

function parseRange(text: string): AddressRange | undefined {
  const [, address = '', prefix] = /^([^/%]+)(?:\/([1-9]\d{0,2}))?$/.exec(text) ?? []
  const version = isIP(address)
  if (version === 0) return undefined
  const bitsMax = version === 4 ? 32 : 128
  const bits = prefix === undefined ? bitsMax : Number(prefix)
  return bits <= bitsMax ? { address, bits, family: version === 4 ? 'ipv4' : 'ipv6' } : undefined
}
