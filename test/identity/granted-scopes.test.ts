import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SetupError } from '../../src/errors.ts'
import { grantedScopes, parseScopeMapping } from '../../src/identity/granted-scopes.ts'

const SAME = parseScopeMapping(undefined)

test('only scopes of the same names are granted, from a text or a list', () => {
  const cases: [unknown, string[]][] = [
    ['plants:read', ['plants:read']],
    ['openid plants:write  plants:read other', ['plants:read', 'plants:write']],
    [['plants:write', 'plants:write'], ['plants:write']],
    ['PLANTS:READ constructor __proto__', []],
    [[['plants:read'], { 'plants:read': true }, 7, null], []],
    [{ 'plants:read': true }, []],
    [7, []],
    [null, []],
    ['', []],
  ]
  for (const [scope, expected] of cases) {
    assert.deepEqual(grantedScopes({ scope }, 'scope', SAME), expected, JSON.stringify(scope))
  }
})

test('scp is read if scope is the configured claim and absent', () => {
  assert.deepEqual(grantedScopes({ scp: ['plants:read'] }, 'scope', SAME), ['plants:read'])
  assert.deepEqual(grantedScopes({ scope: '', scp: 'plants:read' }, 'scope', SAME), [])
  assert.deepEqual(grantedScopes({ scp: 'plants:read' }, 'roles', SAME), [])
})

test('a nested claim and a claim with dots in its name are found', () => {
  const roles = ['plants:read']
  for (const [claims, path] of [
    [{ roles }, 'roles'],
    [{ resource_access: { 'plant.store': { roles } } }, 'resource_access.plant.store.roles'],
    [{ 'https://plants.example/roles': roles }, 'https://plants.example/roles'],
    [{ a: 1, 'a.b': { c: roles } }, 'a.b.c'],
  ] as const) {
    assert.deepEqual(grantedScopes(claims, path, SAME), roles, path)
  }
  for (const path of ['constructor.name', '__proto__', 'a', 'a.b', '.', 'length']) {
    assert.deepEqual(grantedScopes({ roles }, path, SAME), [], path)
  }
})

test('a mapping maps several values to one scope, and one value to several scopes', () => {
  const mapping = parseScopeMapping(
    'plants:read=viewer, plants:read=editor,plants:write=editor,tokens:manage=a=b',
  )
  assert.deepEqual(grantedScopes({ scope: 'editor' }, 'scope', mapping), ['plants:read', 'plants:write'])
  assert.deepEqual(grantedScopes({ scope: 'viewer' }, 'scope', mapping), ['plants:read'])
  assert.deepEqual(grantedScopes({ scope: 'a=b' }, 'scope', mapping), ['tokens:manage'])
  assert.deepEqual(grantedScopes({ scope: 'plants:read' }, 'scope', mapping), [])
})

test('an invalid mapping is rejected with the rule', () => {
  for (const text of [
    'plants:read',
    'viewer=plants:read',
    'plants:read=',
    'plants:read=a,',
    '=a',
    'plants:read=a b',
  ]) {
    assert.throws(
      () => parseScopeMapping(text),
      (error) =>
        error instanceof SetupError && error.message.startsWith('PLANTSTORE_OIDC_SCOPE_MAP must be '),
      text,
    )
  }
})

test('the message quotes the invalid pair of a mapping', () => {
  assert.throws(
    () => parseScopeMapping('plants:read=viewer,plants:wirte=editor'),
    /^SettingError: PLANTSTORE_OIDC_SCOPE_MAP must be pairs .*, not "plants:wirte=editor"\.$/,
  )
})
