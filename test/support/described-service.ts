import assert from 'node:assert/strict'
import { Compile } from 'typebox/schema'
import type { StartedApp } from './http/start-app.ts'

type JsonObject = Record<string, unknown>

export interface MediaType {
  schema: JsonObject
  example?: unknown
  examples?: Record<string, { value: unknown }>
}

export interface DescribedResponse {
  description: string
  headers?: Record<string, unknown>
  content?: Record<string, MediaType>
}

export interface DescribedOperation {
  operationId: string
  parameters?: { name: string; in: string; example?: unknown }[]
  requestBody?: { required: boolean; content: Record<string, MediaType> }
  security?: unknown[]
  responses: Record<string, DescribedResponse | { $ref: string }>
}

export interface OpenApiDocument {
  openapi: string
  info: { version: string; license: JsonObject }
  servers: { url: string }[]
  security: unknown[]
  paths: Record<string, Record<string, DescribedOperation>>
  components: { schemas: Record<string, JsonObject>; securitySchemes: Record<string, JsonObject> }
}

/** Fields that belong to HTTP itself, and Content-Type, which OpenAPI has with the content. */
const FIELDS_OF_HTTP = [
  'content-encoding',
  'vary',
  'cache-control',
  'connection',
  'content-length',
  'content-type',
  'date',
  'keep-alive',
  'transfer-encoding',
]

/** Fields that only some responses of their kind have. */
const OPTIONAL_FIELDS = ['link', 'ratelimit', 'ratelimit-policy', 'retry-after']

export interface DescribedService {
  document: OpenApiDocument
  /** Every operation with where it is. */
  operations: { method: string; path: string; operation: DescribedOperation }[]
  /** The statuses that each operation responded with so far, by operationId. */
  seen: Map<string, Set<number>>
  /** The response that the document declares for a status of an operation; fails when there is none. */
  responseOf(operation: DescribedOperation, status: number): DescribedResponse
  /** Asserts that `value` is what `schema` describes, in which `$ref` points into the document. */
  assertMatches(value: unknown, schema: JsonObject, about: string): void
  /**
   * Sends a request to `target` and asserts that the operation declares its response: the status, each header
   * field both ways, the media type, and the body against its schema. Returns the response and its body.
   */
  call(operationId: string, target: string, init?: CallInit): Promise<{ response: Response; body: unknown }>
}

export type CallInit = Parameters<StartedApp['fetch']>[1]

/** The document that a running service serves, and the service held against it. */
export async function describedService(app: StartedApp): Promise<DescribedService> {
  const document = (await (await app.fetch('/openapi.json')).json()) as OpenApiDocument
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  )
  const seen = new Map(operations.map(({ operation }) => [operation.operationId, new Set<number>()]))

  function responseOf(operation: DescribedOperation, status: number): DescribedResponse {
    const declared = operation.responses[status]
    assert.ok(declared !== undefined, `${operation.operationId} does not declare ${status}`)
    return '$ref' in declared ? (pointedAt(document, declared.$ref) as DescribedResponse) : declared
  }

  function assertMatches(value: unknown, schema: JsonObject, about: string): void {
    const [matches, errors] = Compile({ ...schema, components: document.components } as never).Errors(value)
    assert.ok(matches, `${about}: ${JSON.stringify(value)} ${JSON.stringify(errors)}`)
  }

  async function call(operationId: string, target: string, init: CallInit = {}) {
    const found = operations.find(({ operation }) => operation.operationId === operationId)
    assert.ok(found !== undefined, operationId)
    const response = await app.fetch(target, { ...init, method: found.method })
    const text = await response.text()
    const about = `${found.method} ${target} ${response.status} ${text}`
    seen.get(operationId)?.add(response.status)
    const declared = responseOf(found.operation, response.status)
    assertFields(response, declared, about)
    if (declared.content === undefined) {
      assert.equal(text, '', about)
      return { response, body: undefined }
    }
    const mediaType = response.headers.get('content-type')?.split(';')[0] ?? ''
    const content = declared.content[mediaType]
    assert.ok(content !== undefined, about)
    const body: unknown = mediaType === 'application/json' ? JSON.parse(text) : text
    assertMatches(body, content.schema, about)
    return { response, body }
  }

  return { document, operations, seen, responseOf, assertMatches, call }
}

function assertFields(response: Response, { headers = {} }: DescribedResponse, about: string): void {
  const declared = Object.keys(headers).map((name) => name.toLowerCase())
  const sent = [...response.headers.keys()].filter((name) => !FIELDS_OF_HTTP.includes(name))
  for (const name of sent) assert.ok(declared.includes(name), `${name} is not declared: ${about}`)
  for (const name of declared) {
    assert.ok(sent.includes(name) || OPTIONAL_FIELDS.includes(name), `${name} is not sent: ${about}`)
  }
}

/** What a reference such as `#/components/schemas/Plant` points at. */
function pointedAt(document: object, reference: string): unknown {
  return reference
    .slice(2)
    .split('/')
    .reduce<unknown>((value, name) => (value as JsonObject)[name], document)
}
