import { ERRORS, type ErrorCode, meaningOf } from '../errors.ts'
import type { Scope } from '../tokens/token.ts'

type JsonObject = Record<string, unknown>

/** What an operation does, as the served document tells it. What follows from scope and errors is added to it. */
export interface Operation {
  operationId: string
  summary: string
  description?: string
  group: 'Plants' | 'Tokens' | 'Service'
  parameters?: readonly JsonObject[]
  requestBody?: JsonObject
  /** Successful answers (and 304) by status. */
  answers: Readonly<Record<number, { description: string; headers?: JsonObject; content?: JsonObject }>>
  /** Codes of this operation, beyond those that every one can answer. */
  errors?: readonly ErrorCode[]
}

/** A route that the document describes. */
export interface DescribedRoute {
  method: string
  /** With `:name` for a parameter, as the router has it. */
  url: string
  scope: Scope | 'any' | 'public'
  operation: Operation
  refusalsAre400: boolean
}

export interface OpenApiOptions {
  routes: readonly DescribedRoute[]
  schemas: Readonly<Record<string, unknown>>
  /** Where the service is reached; a path alone is relative to where the document is. */
  serverUrl: string
}

/** The version of the interface, as the specification gives it. */
const INTERFACE_VERSION = '1.0.0'

const ERRORS_OF_EVERY_OPERATION: readonly ErrorCode[] = [40000, 40004, 40801, 43101, 50001]
const ERRORS_OF_SECURED_OPERATIONS: readonly ErrorCode[] = [40101, 40102, 40301, 50301, 50302]

const REQUEST_ID = { $ref: '#/components/headers/X-Request-Id' }

/** The OpenAPI 3.1 document of the service, made from its routes and schemas. */
export function buildOpenApi({ routes, schemas, serverUrl }: OpenApiOptions): JsonObject {
  const paths: Record<string, JsonObject> = {}
  for (const route of routes) {
    const path = route.url.replace(/:(\w+)/g, '{$1}')
    paths[path] ??= {}
    paths[path][route.method.toLowerCase()] = describe(route)
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'OpenAPI Plant Store',
      version: INTERFACE_VERSION,
      summary: 'Keeps plants and never loses one.',
      description: aboutErrors(),
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: serverUrl }],
    security: [{ bearerAuth: [] }],
    tags: [
      { name: 'Plants', description: 'The plants of the store' },
      { name: 'Tokens', description: 'Who may do what' },
      { name: 'Service', description: 'For those who run it' },
    ],
    paths,
    components: {
      schemas,
      securitySchemes: {
        bearerAuth: { type: 'http', scheme: 'bearer', description: 'A token of this service' },
      },
      headers: {
        'X-Request-Id': { description: 'Names this request in the log', schema: { type: 'string' } },
        ETag: { description: 'The version of the plant, for If-Match', schema: { type: 'string' } },
        Location: { description: 'Where the plant is read', schema: { type: 'string' } },
        'Retry-After': { description: 'Seconds after which to try again', schema: { type: 'integer' } },
        'WWW-Authenticate': {
          description: 'What is wrong with the token (RFC 6750)',
          schema: { type: 'string' },
        },
      },
    },
  }
}

function describe({ operation, scope, refusalsAre400 }: DescribedRoute): JsonObject {
  const { operationId, summary, group, parameters, requestBody, answers, errors = [] } = operation
  const isPublic = scope === 'public'
  const codes = [...errors, ...ERRORS_OF_EVERY_OPERATION, ...(isPublic ? [] : ERRORS_OF_SECURED_OPERATIONS)]
  const needs = isPublic
    ? 'Needs no token.'
    : scope === 'any'
      ? 'Needs any valid token.'
      : `Needs the scope \`${scope}\`.`
  const responses: Record<string, JsonObject> = {}
  for (const [status, answer] of Object.entries(answers)) {
    responses[status] = { ...answer, headers: { 'X-Request-Id': REQUEST_ID, ...answer.headers } }
  }
  return {
    operationId,
    summary,
    description: [operation.description, needs].filter(Boolean).join('\n\n'),
    tags: [group],
    ...(parameters && { parameters }),
    ...(requestBody && { requestBody }),
    ...(isPublic && { security: [] }),
    responses: { ...responses, ...errorResponses(codes, refusalsAre400) },
  }
}

function errorResponses(codes: readonly ErrorCode[], refusalsAre400: boolean): Record<string, JsonObject> {
  const byStatus = new Map<number, ErrorCode[]>()
  for (const code of [...new Set(codes)].sort()) {
    const { status, refusal } = meaningOf(code)
    const answered = refusalsAre400 && refusal ? 400 : status
    byStatus.set(answered, [...(byStatus.get(answered) ?? []), code])
  }
  return Object.fromEntries(
    [...byStatus].map(([status, codesOfIt]) => [status, errorResponse(status, codesOfIt)]),
  )
}

function errorResponse(status: number, codes: readonly ErrorCode[]): JsonObject {
  const headers: JsonObject = { 'X-Request-Id': REQUEST_ID }
  if (status === 401 || status === 403) {
    headers['WWW-Authenticate'] = { $ref: '#/components/headers/WWW-Authenticate' }
  }
  if (codes.some((code) => meaningOf(code).retryAfterSeconds !== undefined)) {
    headers['Retry-After'] = { $ref: '#/components/headers/Retry-After' }
  }
  return {
    description: codes.map((code) => `${code}: ${ERRORS[code].meaning}`).join('\n\n'),
    headers,
    content: {
      'application/json': {
        schema: { $ref: '#/components/schemas/Error' },
        examples: Object.fromEntries(
          codes.map((code) => [code, { value: { error: code, message: ERRORS[code].meaning } }]),
        ),
      },
    },
  }
}

function aboutErrors(): string {
  const rows = Object.entries(ERRORS).map(
    ([code, { status, meaning }]) => `| ${code} | ${status} | ${meaning} |`,
  )
  return [
    'Every failed request is answered with an Error body. Its `error` is stable: the HTTP status that fits best × 100 + n.',
    'A failed `POST /plants` answers 400 for whatever the request itself caused; the code tells the cases apart.',
    '',
    '| error | status | meaning |',
    '|---|---|---|',
    ...rows,
  ].join('\n')
}
