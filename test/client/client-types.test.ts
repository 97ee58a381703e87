import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import type * as codes from '../../src/client/error-codes.ts'
import type * as client from '../../src/client/plant-types.ts'
import { ERRORS, type ErrorCode, type ErrorDetails, type FieldError } from '../../src/errors.ts'
import type * as plants from '../../src/plants/plant.ts'
import type { TagCount } from '../../src/plants/plant-store.ts'
import type { TokenResponse } from '../../src/tokens/token.ts'
import { clientErrorCodes, clientTypes } from '../support/client-types.ts'

type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false
type Mutable<T> = { -readonly [Key in keyof T]: T[Key] extends readonly (infer Item)[] ? Item[] : T[Key] }

/** The compiler compares the types of the client with those of the service. */
const AGREE: [
  Same<client.Plant, plants.PlantContent>,
  Same<client.NewPlant, plants.NewPlant>,
  Same<client.PlantUpdate, plants.PlantUpdate>,
  Same<client.TagCount, Mutable<TagCount>>,
  Same<client.Token, Mutable<TokenResponse>>,
  Same<client.ErrorDetails['outcome'], ErrorDetails['outcome']>,
  Same<client.FieldError, FieldError>,
  Same<codes.ErrorCode, ErrorCode>,
] = [true, true, true, true, true, true, true, true]

test('the types and error codes of the client are those of the service', () => {
  assert.ok(AGREE.every((agree) => agree))
  const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')
  assert.equal(
    read('src/client/plant-types.ts'),
    clientTypes(JSON.parse(read('openapi.json'))),
    'run "npm run client-types"',
  )
  assert.equal(read('src/client/error-codes.ts'), clientErrorCodes(ERRORS), 'run "npm run client-types"')
})

test('a schema without a type is not skipped', () => {
  const schemas = { Odd: { type: 'object', properties: { one: { type: 'number' } } } }
  assert.throws(() => clientTypes({ components: { schemas } }), /no type for \{"type":"number"\}/)
})
