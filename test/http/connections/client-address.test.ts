import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createClientAddress, networkOf } from '../../../src/http/connections/client-address.ts'

/** The client address of a request. */
function addressOf(trustedProxies: string | undefined, remoteAddress: string, forwarded?: string): string {
  const headers = { 'x-forwarded-for': forwarded, 'x-real-ip': '9.9.9.9', forwarded: 'for=9.9.9.9' }
  return createClientAddress(trustedProxies)({ socket: { remoteAddress }, headers } as never)
}

test('without a trusted proxy the address is that of the connection, whatever X-Forwarded-For says', () => {
  assert.equal(addressOf(undefined, '192.0.2.1', '198.51.100.7'), '192.0.2.1')
  assert.equal(addressOf('10.0.0.1', '192.0.2.1', '198.51.100.7'), '192.0.2.1', 'nor from anybody else')
  assert.equal(addressOf('10.0.0.1', '192.0.2.1', '198.51.100.7, 10.0.0.1'), '192.0.2.1')
})

test('with trusted proxies it is the last address that is not trusted', () => {
  const proxies = '10.0.0.0/8, 2001:db8::1'
  for (const [remote, forwarded, expected] of [
    ['10.0.0.1', '198.51.100.7', '198.51.100.7'],
    ['10.0.0.1', '1.1.1.1, 198.51.100.7', '198.51.100.7'],
    ['10.0.0.1', '1.1.1.1,198.51.100.7,10.2.3.4', '198.51.100.7'],
    ['10.0.0.1', '10.9.9.9, 198.51.100.7,  2001:db8::1', '198.51.100.7'],
    ['2001:db8::1', '2001:db8::2', '2001:db8::2'],
    ['::ffff:10.0.0.1', '198.51.100.7', '198.51.100.7'],
    ['10.0.0.1', '::ffff:198.51.100.7', '198.51.100.7'],
    ['10.0.0.1', '::ffff:c633:6407', '198.51.100.7'],
    // With the port, as some proxies write it.
    ['10.0.0.1', '198.51.100.7:50123', '198.51.100.7'],
    ['10.0.0.1', '[2001:db8::2]:50123', '2001:db8::2'],
    ['10.0.0.1', '[2001:db8::2]', '2001:db8::2'],
    // Nobody but the proxies.
    ['10.0.0.1', undefined, '10.0.0.1'],
    ['10.0.0.1', '10.0.0.2', '10.0.0.2'],
    // What is no address was not written by a proxy that can be trusted.
    ['10.0.0.1', 'unknown', '10.0.0.1'],
    ['10.0.0.1', '', '10.0.0.1'],
    ['10.0.0.1', '1.1.1.1, x', '10.0.0.1'],
    ['10.0.0.1', '1.1.1.1, garbage, 10.2.3.4', '10.2.3.4'],
    ['10.0.0.1', 'x'.repeat(10_000), '10.0.0.1'],
    ['10.0.0.1', '1.1.1.1, 198.51.100.7,', '10.0.0.1'],
  ] as const) {
    assert.equal(addressOf(proxies, remote, forwarded), expected, `${remote} for ${forwarded}`)
  }
})

test('names stand for the addresses of a machine, a link and a site', () => {
  for (const [word, addresses] of [
    ['loopback', ['127.0.0.1', '127.9.9.9', '::1']],
    ['linklocal', ['169.254.1.1', 'fe80::1']],
    ['uniquelocal', ['10.1.1.1', '172.16.0.1', '172.31.255.255', '192.168.9.9', 'fd00::1']],
  ] as const) {
    for (const address of addresses) assert.equal(addressOf(word, address, '198.51.100.7'), '198.51.100.7')
    for (const address of ['172.32.0.1', '11.0.0.1', '128.0.0.1', '::2', '2001:db8::1']) {
      assert.equal(addressOf(word, address, '198.51.100.7'), address, word)
    }
  }
})

test('a closed connection has no address, and is not trusted', () => {
  assert.equal(addressOf('loopback', undefined as never, '198.51.100.7'), '')
})

test('a network is an IPv4 address, or 64 bits of an IPv6 address in any notation', () => {
  assert.equal(networkOf('198.51.100.7'), '198.51.100.7')
  for (const address of [
    '2001:db8:0:7::1',
    '2001:DB8::7:ffff:ffff:ffff:ffff',
    '2001:0db8:0000:0007:0:0:0:0',
    '2001:db8:0:7::198.51.100.7',
    '2001:db8:0:7:1::%eth0',
  ]) {
    assert.equal(networkOf(address), '2001:db8:0:7::/64', address)
  }
  assert.notEqual(networkOf('2001:db8:0:8::1'), networkOf('2001:db8:0:7::1'))
  assert.equal(networkOf('::1'), '::/64')
  assert.equal(networkOf('64:ff9b::198.51.100.7'), '64:ff9b::/64')
  assert.equal(networkOf(''), '')
})
