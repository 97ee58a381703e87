import { STATUS_CODES } from 'node:http'
import type { FastifyContextConfig } from 'fastify'
import { ERRORS, type ErrorCode, meaningOf } from '../errors.ts'
import {
  HEADERS,
  HEADERS_OF_EVERY_RESPONSE,
  HEADERS_OF_LIMITED_RESPONSES,
  type HeaderName,
} from './openapi-headers.ts'
import { templateOf } from './request/route-template.ts'

type JsonObject = Record<string, unknown>

/** An operation as the OpenAPI document describes it. What follows from its scope is added. */
export interface Operation {
  operationId: string
  summary: string
  description?: string
  group: 'Plants' | 'Tokens' | 'Service'
  parameters?: readonly JsonObject[]
  requestBody?: JsonObject
  /** Successful responses, and 304, by status. */
  responses: Readonly<Record<number, ResponseObject>>
  /** Error codes of this operation, beyond those of every operation. */
  errors?: readonly ErrorCode[]
}

interface ResponseObject {
  description: string
  /** Beyond those of every response. */
  headers?: readonly HeaderName[]
  content?: JsonObject
}

/** A route that the document describes. */
export interface DescribedRoute {
  method: string
  /** With `:name` for a parameter, as the router has it. */
  url: string
  scope: NonNullable<FastifyContextConfig['scope']>
  operation: Operation
  rejectionsAre400: boolean
}

export interface OpenApiOptions {
  routes: readonly DescribedRoute[]
  schemas: Readonly<Record<string, unknown>>
  /** The URL of the service, or its path; `/` or an empty text if it is not known. */
  serverUrl: string
}

/** The version of the interface, as the specification gives it. */
const INTERFACE_VERSION = '1.0.0'

const ERRORS_OF_EVERY_OPERATION: readonly ErrorCode[] = [40000, 40801, 43101, 50001]
const ERRORS_OF_SECURED_OPERATIONS: readonly ErrorCode[] = [40004, 40101, 40102, 50301, 50302]
const ERRORS_OF_LIMITED_OPERATIONS: readonly ErrorCode[] = [42901]
const ERRORS_OF_SCOPED_OPERATIONS: readonly ErrorCode[] = [40301]

/**
 * The failures that are the same for every operation: described once and referred to. Those with 400 are described at
 * each operation, because they differ.
 */
const SHARED_FAILURES: ReadonlyMap<number, readonly ErrorCode[]> = new Map(
  [
    ...codesByStatus(
      [
        ...ERRORS_OF_EVERY_OPERATION,
        ...ERRORS_OF_SECURED_OPERATIONS,
        ...ERRORS_OF_LIMITED_OPERATIONS,
        ...ERRORS_OF_SCOPED_OPERATIONS,
      ],
      false,
    ),
  ].filter(([status]) => status !== 400),
)

/** Statuses of requests that are rejected before the rate limit is checked. */
const STATUSES_BEFORE_LIMITS: readonly number[] = [401, 408, 431]

/** Builds the OpenAPI 3.1 document of the service from its routes and schemas. */
export function buildOpenApi({ routes, schemas, serverUrl }: OpenApiOptions): JsonObject {
  const paths: Record<string, JsonObject> = {}
  for (const route of routes) {
    const path = templateOf(route.url)
    paths[path] ??= {}
    paths[path][route.method.toLowerCase()] = describe(route)
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'OpenAPI Plant Store',
      version: INTERFACE_VERSION,
      summary: 'Stores plants and never loses one.',
      description: aboutTheService(),
      contact: { name: 'The operator of this service' },
      license: { name: 'MIT', identifier: 'MIT' },
    },
    ...serversOf(serverUrl),
    security: [{ bearerAuth: [] }],
    tags: [
      { name: 'Plants', description: 'The plants of the store' },
      { name: 'Tokens', description: 'Access tokens and their scopes' },
      { name: 'Service', description: 'Health and metrics' },
    ],
    paths,
    components: {
      schemas,
      responses: sharedResponses(),
      headers: HEADERS,
      securitySchemes: {
        bearerAuth: {
          type: 'http',
          scheme: 'bearer',
          description:
            'A token of this service (`plst_…`), created with `POST /tokens` or `plantstore token create`, or the ' +
            'fixed token of its configuration. If an OpenID provider is configured, also a JWT that it issued for ' +
            'this service; the claims of the JWT grant the scopes.',
        },
      },
    },
  }
}

/**
 * Without a known URL the document has no servers, which means `/` (OpenAPI 3.1 §4.8.1.1). A server `/` is not the same
 * to clients that only append a path: they request `//plants`.
 */
function serversOf(serverUrl: string): JsonObject {
  const url = serverUrl.replace(/\/+$/, '')
  return url === '' ? {} : { servers: [{ url }] }
}

function describe({ operation, scope, rejectionsAre400 }: DescribedRoute): JsonObject {
  const { operationId, summary, group, parameters, requestBody, errors = [] } = operation
  const isPublic = scope === 'public'
  const codes = [...errors, ...ERRORS_OF_EVERY_OPERATION]
  if (!isPublic) codes.push(...ERRORS_OF_SECURED_OPERATIONS)
  if (!isPublic && scope !== 'any') codes.push(...ERRORS_OF_SCOPED_OPERATIONS)
  const isLimited = !isPublic && scope !== 'metrics:read'
  if (isLimited) codes.push(...ERRORS_OF_LIMITED_OPERATIONS)
  const limitHeaders = isLimited ? HEADERS_OF_LIMITED_RESPONSES : []
  const responses: Record<string, JsonObject> = {}
  for (const [status, response] of Object.entries(operation.responses)) {
    responses[status] = {
      ...response,
      headers: referToHeaders([...(response.headers ?? []), ...limitHeaders]),
    }
  }
  for (const [status, codesOfStatus] of codesByStatus(codes, rejectionsAre400)) {
    responses[status] =
      String(codesOfStatus) === String(SHARED_FAILURES.get(status))
        ? { $ref: `#/components/responses/${nameOfStatus(status)}` }
        : failure(status, codesOfStatus, limitHeaders)
  }
  return {
    operationId,
    summary,
    description: [operation.description, requirementOf(scope)].filter(Boolean).join('\n\n'),
    tags: [group],
    ...(parameters && { parameters }),
    ...(requestBody && { requestBody }),
    ...(isPublic && { security: [] }),
    responses,
  }
}

function requirementOf(scope: DescribedRoute['scope']): string {
  if (scope === 'public') return 'Requires no token.'
  return scope === 'any' ? 'Requires a valid token, with any scope.' : `Requires the scope \`${scope}\`.`
}

function codesByStatus(codes: readonly ErrorCode[], rejectionsAre400: boolean): Map<number, ErrorCode[]> {
  const byStatus = new Map<number, ErrorCode[]>()
  for (const code of [...new Set(codes)].sort()) {
    const { status, rejection } = meaningOf(code)
    const sent = rejectionsAre400 && rejection ? 400 : status
    byStatus.set(sent, [...(byStatus.get(sent) ?? []), code])
  }
  return byStatus
}

function sharedResponses(): JsonObject {
  return Object.fromEntries(
    [...SHARED_FAILURES].map(([status, codes]) => [
      nameOfStatus(status),
      failure(status, codes, HEADERS_OF_LIMITED_RESPONSES),
    ]),
  )
}

/** For 408: `RequestTimeout`. */
function nameOfStatus(status: number): string {
  return (STATUS_CODES[status] ?? '').replaceAll(' ', '')
}

function failure(
  status: number,
  codes: readonly ErrorCode[],
  limitHeaders: readonly HeaderName[],
): JsonObject {
  const headers: HeaderName[] = []
  if (status === 401 || status === 403) headers.push('WWW-Authenticate')
  if (!STATUSES_BEFORE_LIMITS.includes(status)) headers.push(...limitHeaders)
  if (codes.some((code) => meaningOf(code).retryAfterSeconds !== undefined)) headers.push('Retry-After')
  return {
    description: codes.map((code) => `- ${code}: ${ERRORS[code].meaning}`).join('\n'),
    headers: referToHeaders(headers),
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

function referToHeaders(names: readonly HeaderName[] = []): JsonObject {
  return Object.fromEntries(
    [...HEADERS_OF_EVERY_RESPONSE, ...names].map((name) => [name, { $ref: `#/components/headers/${name}` }]),
  )
}

function aboutTheService(): string {
  const rows = Object.entries(ERRORS).map(
    ([code, { status, meaning }]) => `| ${code} | ${status} | ${meaning} |`,
  )
  return [
    'Ids are 64-bit integers, read and written exactly. In languages whose numbers are exact only up to 2^53,',
    'such as JavaScript, use a JSON parser that keeps 64-bit integers.',
    'Bodies are JSON in UTF-8. Unknown members of a body are ignored. Unknown query parameters are rejected.',
    'HEAD works wherever GET does. OPTIONS lists the methods of a path in `Allow`.',
    '',
    'Every failed request has an Error body. Its `error` is a stable code: the closest HTTP status times 100,',
    'plus a number. A failed `POST /plants` has status 400 for every fault of the request except its token; the',
    'code distinguishes the cases. The `message` is for people and may change. Programs read the code and',
    '`details`: invalid fields and the rules that they violate, the parameter at fault, the progress of an import,',
    'and whether a write that failed with 5xx was stored (`outcome`).',
    '',
    '| error | status | meaning |',
    '|---|---|---|',
    ...rows,
  ].join('\n')
}
