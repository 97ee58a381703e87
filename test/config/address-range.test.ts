import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isAddressRange } from '../../src/config/setting.ts'

test('an address, a range and a word are address ranges', () => {
  for (const text of [
    '192.0.2.1',
    '2001:db8::1',
    '10.0.0.0/8',
    '2001:db8::/32',
    'loopback',
    'linklocal',
    'uniquelocal',
  ])
    assert.ok(isAddressRange(text), text)
})

test('anything else is not', () => {
  for (const text of [
    '',
    'true',
    '1',
    'proxy.example',
    'Loopback',
    'loopback/8',
    'constructor',
    'cafe',
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
  ])
    assert.ok(!isAddressRange(text), text)
})

test('the range of every address is not', () => {
  assert.ok(!isAddressRange('0.0.0.0/0'))
  assert.ok(!isAddressRange('::/0'))
})
