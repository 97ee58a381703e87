import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SetupError } from '../../src/errors.ts'
import { grantedScopes, parseScopeMapping } from '../../src/identity/granted-scopes.ts'

const SAME = parseScopeMapping(undefined)

test('scopes of the same names are granted, from a text or a list, and nothing else', () => {
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

test('scp is read where there is no scope, and only where scope is asked for', () => {
  assert.deepEqual(grantedScopes({ scp: ['plants:read'] }, 'scope', SAME), ['plants:read'])
  assert.deepEqual(grantedScopes({ scope: '', scp: 'plants:read' }, 'scope', SAME), [])
  assert.deepEqual(grantedScopes({ scp: 'plants:read' }, 'roles', SAME), [])
})

test('a claim is found in others, and under a name with dots', () => {
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

test('a mapping says what grants what; one value may grant several, and several the same', () => {
  const mapping = parseScopeMapping(
    'plants:read=viewer, plants:read=editor,plants:write=editor,tokens:manage=a=b',
  )
  assert.deepEqual(grantedScopes({ scope: 'editor' }, 'scope', mapping), ['plants:read', 'plants:write'])
  assert.deepEqual(grantedScopes({ scope: 'viewer' }, 'scope', mapping), ['plants:read'])
  assert.deepEqual(grantedScopes({ scope: 'a=b' }, 'scope', mapping), ['tokens:manage'])
  assert.deepEqual(grantedScopes({ scope: 'plants:read' }, 'scope', mapping), [])
})

test('what is no mapping is refused with the rule', () => {
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

test('of a mapping the pair that is wrong is repeated', () => {
  assert.throws(
    () => parseScopeMapping('plants:read=viewer,plants:wirte=editor'),
    /^SettingError: PLANTSTORE_OIDC_SCOPE_MAP must be pairs .*, not "plants:wirte=editor"\.$/,
  )
})
