import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { Validator } from '@seriousme/openapi-schema-validator'
import { parse } from 'yaml'
import { type DescribedResponse, describedService, type MediaType } from '../support/described-service.ts'
import { startApp } from '../support/http/start-app.ts'

test('the served document contains the specification, unchanged', async (context) => {
  const { document } = await describedService(await startApp(context))
  assert.match(document.openapi, /^3\.1\./)
  assert.equal(document.info.version, '1.0.0')
  assert.equal(document.info.license.name, 'MIT')
  assert.deepEqual(document.security, [{ bearerAuth: [] }])
  const { type, scheme } = document.components.securitySchemes.bearerAuth ?? {}
  assert.deepEqual({ type, scheme }, { type: 'http', scheme: 'bearer' })

  const create = document.paths['/plants']?.post
  assert.ok(create !== undefined)
  assert.equal(create.security, undefined)
  assert.deepEqual(
    (create.parameters ?? []).filter((parameter) => parameter.in !== 'header'),
    [],
  )
  assert.equal(create.requestBody?.required, true)
  assert.deepEqual(schemasOf(create.requestBody?.content), {
    'application/json': { $ref: '#/components/schemas/NewPlant' },
  })
  for (const [status, schema] of [
    ['200', 'Plant'],
    ['400', 'Error'],
  ] as const) {
    const response: DescribedResponse | { $ref: string } | undefined = create.responses[status]
    assert.ok(response !== undefined && 'content' in response)
    assert.deepEqual(schemasOf(response.content), {
      'application/json': { $ref: `#/components/schemas/${schema}` },
    })
  }
})

test('the schemas Plant, NewPlant and Error are the specified ones', async (context) => {
  const { document } = await describedService(await startApp(context))
  const { Plant, NewPlant, Error: ErrorSchema } = document.components.schemas
  assert.deepEqual(withoutDescriptions({ Plant, NewPlant, Error: ErrorSchema }), {
    Plant: {
      type: 'object',
      required: ['name'],
      properties: { name: { type: 'string' }, tag: { type: 'string' } },
    },
    NewPlant: {
      allOf: [
        { $ref: '#/components/schemas/Plant' },
        {
          type: 'object',
          required: ['id'],
          properties: { id: { type: 'integer', format: 'int64' } },
        },
      ],
    },
    Error: {
      type: 'object',
      required: ['error', 'message'],
      properties: {
        error: { type: 'integer', format: 'int32' },
        message: { type: 'string' },
        // Optional, and not in the specification.
        details: { $ref: '#/components/schemas/ErrorDetails' },
      },
    },
  })
})

test('the served document is valid OpenAPI 3.1', async (context) => {
  const { document } = await describedService(await startApp(context))
  const validator = new Validator()
  const { valid, errors } = await validator.validate({ ...structuredClone(document) })
  assert.ok(valid, JSON.stringify(errors))
  assert.equal(validator.version, '3.1')
})

test('every example of a response matches its schema', async (context) => {
  const { operations, responseOf, assertMatches } = await describedService(await startApp(context))
  let checked = 0
  for (const { operation } of operations) {
    for (const status of Object.keys(operation.responses)) {
      for (const [, mediaType] of Object.entries(responseOf(operation, Number(status)).content ?? {})) {
        for (const example of examplesOf(mediaType)) {
          assertMatches(example, mediaType.schema, `${operation.operationId} ${status}`)
          checked++
        }
      }
    }
  }
  assert.ok(checked > 50)
})

test('every example of a request works unchanged', async (context) => {
  const { operations, call } = await describedService(await startApp(context))
  // Plants have to be there before they can be read, and are deleted last.
  const order = ['POST', 'GET', 'PUT', 'PATCH', 'DELETE']
  operations.sort((one, other) => order.indexOf(one.method) - order.indexOf(other.method))
  let tokenId = ''
  let token = ''
  for (const { method, path, operation } of operations) {
    const target = path.replace(/\{(\w+)\}/g, (_all, name) => {
      if (path.startsWith('/tokens/')) return tokenId
      return String(operation.parameters?.find((parameter) => parameter.name === name)?.example)
    })
    const bodies = Object.entries(operation.requestBody?.content ?? {}).flatMap(([contentType, mediaType]) =>
      examplesOf(mediaType).map((example) => ({
        body: typeof example === 'string' ? example : JSON.stringify(example),
        headers: { 'content-type': contentType },
      })),
    )
    assert.equal(
      bodies.length === 0,
      operation.requestBody === undefined,
      `${path} has an example of its body`,
    )
    for (const init of bodies.length === 0 ? [{ headers: {} }] : bodies) {
      // The token of the settings has no secret that could be another one.
      const own = operation.operationId === 'rotateOwnToken' ? { authorization: `Bearer ${token}` } : {}
      const headers = { ...init.headers, ...own }
      const { response, body } = await call(operation.operationId, target, { ...init, headers })
      assert.ok(response.ok, `${operation.operationId} ${response.status} ${JSON.stringify(body)}`)
      if (operation.operationId === 'createToken') tokenId = (body as { id: string }).id
      if (path.startsWith('/tokens') && method === 'POST') token = (body as { token: string }).token
    }
  }
})

test('openapi.json in the repository equals the served document', async (context) => {
  const { document } = await describedService(await startApp(context))
  const committed = await readFile(new URL('../../openapi.json', import.meta.url), 'utf8')
  assert.ok(
    committed === `${JSON.stringify(document, null, 2)}\n`,
    'openapi.json differs from what the service serves: run "npm run openapi" and commit it',
  )
})

test('openapi.yaml equals openapi.json', async (context) => {
  const app = await startApp(context)
  const { document } = await describedService(app)
  const response = await app.fetch('/openapi.yaml', { headers: { authorization: '' } })
  assert.equal(response.headers.get('content-type'), 'application/yaml')
  assert.deepEqual(parse(await response.text()), document)
})

test('the document has the configured base URL, without a trailing slash', async (context) => {
  const app = await startApp(context, { PLANTSTORE_BASE_URL: 'https://plants.example/store/' })
  const { document } = await describedService(app)
  assert.deepEqual(document.servers, [{ url: 'https://plants.example/store' }])
})

function schemasOf(content: Record<string, MediaType> = {}) {
  return Object.fromEntries(Object.entries(content).map(([type, { schema }]) => [type, schema]))
}

function examplesOf({ example, examples = {} }: MediaType): unknown[] {
  return [...(example === undefined ? [] : [example]), ...Object.values(examples).map(({ value }) => value)]
}

function withoutDescriptions(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value), (name, member) => (name === 'description' ? undefined : member))
}

test('without a base URL the document names no server, so that no client requests //plants', async (context) => {
  const { document } = await describedService(await startApp(context))
  assert.ok(!('servers' in document))
})

test('every schema is used, and every parameter of a path has an example', async (context) => {
  const { document } = await describedService(await startApp(context))
  const text = JSON.stringify(document)
  for (const name of Object.keys(document.components.schemas))
    assert.ok(text.includes(`"#/components/schemas/${name}"`), name)
  // Not the optional ones: the reference would send their examples, and a plant without this ETag is rejected.
  for (const [path, operations] of Object.entries(document.paths))
    for (const { parameters = [] } of Object.values(operations))
      for (const parameter of parameters)
        if (parameter.in === 'path') assert.ok('example' in parameter, `${path} ${JSON.stringify(parameter)}`)
})
