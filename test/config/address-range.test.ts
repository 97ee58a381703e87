import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseAddressRanges } from '../../src/config/address-range.ts'

test('addresses, ranges and words may stand in one list', () => {
  assert.deepEqual(parseAddressRanges('192.0.2.1, 2001:db8::/32 ,linklocal'), [
    { address: '192.0.2.1', bits: 32, family: 'ipv4' },
    { address: '2001:db8::', bits: 32, family: 'ipv6' },
    { address: '169.254.0.0', bits: 16, family: 'ipv4' },
    { address: 'fe80::', bits: 10, family: 'ipv6' },
  ])
})

test('a list with anything else in it is none', () => {
  for (const text of [
    '',
    ',',
    '10.0.0.1,',
    'true',
    '1',
    'proxy.example',
    'Loopback',
    'constructor',
    '10.0.0',
    '10.0.0.256',
    '10.0.0.0/',
    '10.0.0.0/08',
    '10.0.0.0/33',
    '10.0.0.0/255.0.0.0',
    '10.0.0.1 10.0.0.2',
    '::/129',
    'fe80::1%lo',
    '[::1]',
  ]) {
    assert.equal(parseAddressRanges(text), undefined, text)
  }
})

test('every address there is, is no range to trust', () => {
  assert.equal(parseAddressRanges('0.0.0.0/0'), undefined)
  assert.equal(parseAddressRanges('::/0'), undefined)
})
