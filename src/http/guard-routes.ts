import type { FastifyContextConfig, FastifyInstance, FastifyRequest, RouteOptions } from 'fastify'
import { AppError, invalidParameter } from '../errors.ts'
import type { LoadShedding } from '../load/load-shedding.ts'
import type { CrossOrigin } from './cross-origin.ts'
import type { DescribedRoute, Operation } from './openapi.ts'
import { recordRequestedStages } from './request/request-stages.ts'
import { requestPath, templateOf } from './request/route-template.ts'
import { type HeaderList, sendEmpty } from './response/responses.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The operation in the OpenAPI document; absent for pages. */
    operation?: Operation
    /** Whether every fault of the request itself has status 400, whatever its code. */
    rejectionsAre400?: true
    /**
     * Whether the path does not support these methods. The route exists only so that they do not match a path with a
     * parameter. Its handler calls `callNotFound`.
     */
    isUnsupported?: true
  }
  interface FastifyRequest {
    /** The path of its route, as in the OpenAPI document; null without a route. */
    template: string | null
    /** The error of the response, if the request failed. */
    failure: AppError | null
    /** Whether the request ended and was counted, traced and logged. */
    isRecorded: boolean
    /** Header fields of its response, whatever its status; null for none. */
    responseFields: HeaderList | null
    /** Whether the request is never logged as slow: it does much work. */
    mayTakeLong: boolean
  }
}

/** What a route requires of a caller; the type comes with `tokens/access/authorize.ts`. */
type RouteScope = NonNullable<FastifyContextConfig['scope']>

/**
 * Authorizes a request to a route that requires this scope, or any valid token: calls `done` with an AppError unless
 * the request may proceed.
 */
export type Authorize = (
  request: FastifyRequest,
  scope: Exclude<RouteScope, 'public'>,
  done: (error?: Error) => void,
) => void

/** The only paths that require no token: they contain no plants. A folder's name ends in a slash. */
const PUBLIC_PATHS = [
  '/',
  '/assets/',
  '/healthz',
  '/readyz',
  '/openapi.json',
  '/openapi.yaml',
  '/docs',
  '/docs/',
]

const READING_METHODS = ['GET', 'HEAD', 'OPTIONS']
const EVERY_METHOD = 'DELETE, GET, HEAD, PATCH, POST, PUT'

const IF_MATCH = 'If-Match'

const HOST = /^[A-Za-z0-9\-._~%!$&'()*+;=:[\]]*$/

export interface GuardRoutesOptions {
  authorize: Authorize
  /** Called for each authorized request that writes, before its body is read. */
  shedLoad: LoadShedding
  /** Undefined: scripts of other origins have no access. */
  crossOrigin: CrossOrigin | undefined
  basePath: string
}

/**
 * Checks the requests of every route, in this order: well-formed HTTP, token, rate, scope, path, method, load. A route
 * that declares no scope stops the start. Returns the routes of the OpenAPI document, as they are added.
 */
export function guardRoutes(
  app: FastifyInstance,
  { authorize, shedLoad, crossOrigin, basePath }: GuardRoutesOptions,
): DescribedRoute[] {
  const described: DescribedRoute[] = []
  const knownPaths = new Map<string, KnownPath>()

  app.decorateRequest('template', null)
  app.decorateRequest('failure', null)
  app.decorateRequest('isRecorded', false)
  app.decorateRequest('responseFields', null)
  app.decorateRequest('stages', null)
  app.decorateRequest('mayTakeLong', false)
  // Fastify requires an initial value. Handlers run after `authenticate` has set it, except those of public routes,
  // which have no caller.
  app.decorateRequest('caller', null as never)

  app.addHook('onRoute', (route) => {
    const { scope, operation, rejectionsAre400 = false, isUnsupported = false } = route.config ?? {}
    const path = route.url.slice(basePath.length) || '/'
    if (scope === undefined) throw new Error(`The route ${route.method} ${route.url} declares no scope`)
    if (scope === 'public' && !isPublicPath(path)) throw new Error(`The route ${route.url} may not be public`)
    const known = knownPaths.get(route.url) ?? {
      pattern: patternOf(route.url),
      methods: new Set(['OPTIONS']),
      isPublic: true,
    }
    knownPaths.set(route.url, known)
    known.isPublic &&= scope === 'public'
    for (const method of [route.method].flat()) {
      if (!isUnsupported) known.methods.add(method)
      if (operation !== undefined && method !== 'HEAD') {
        described.push({ method, url: path, scope, operation, rejectionsAre400 })
      }
    }
    const hasETag = isUnsupported || operation?.parameters?.some(({ name }) => name === IF_MATCH) === true
    guard(route, { scope, template: templateOf(path), hasETag, authorize, shedLoad })
  })

  if (crossOrigin !== undefined) {
    app.addHook('onRequest', (request, _reply, done) => {
      crossOrigin.mark(request)
      done()
    })
  }
  app.setNotFoundHandler((request, reply) => {
    const malformed = malformedRequestError(request)
    if (malformed !== undefined) throw malformed
    // The same methods whatever the path: without a token, a response must not reveal which paths exist.
    if (crossOrigin?.sendPreflight(request, reply, EVERY_METHOD)) return
    const { allow, isPublic } = pathOf(request, knownPaths)
    // Health checks send OPTIONS, and no token: that of HAProxy by default.
    if (isPublic && request.method === 'OPTIONS') return sendEmpty(reply, 204, ['allow', allow])
    authorize(request, 'any', (rejection) => {
      if (rejection !== undefined) return void reply.send(rejection)
      if (allow === '') {
        const message = `There is no such path. The API reference at ${basePath}/docs lists the paths.`
        reply.send(new AppError(40401, message))
      } else if (request.method === 'OPTIONS') sendEmpty(reply, 204, ['allow', allow])
      else {
        const message = `This path does not support ${request.method}. Supported: ${allow}.`
        reply.send(new AppError(40501, message, { headers: { allow } }))
      }
    })
  })
  return described
}

interface GuardOptions extends Pick<GuardRoutesOptions, 'authorize' | 'shedLoad'> {
  scope: RouteScope
  template: string
  /** Whether the operation evaluates If-Match. */
  hasETag: boolean
}

/** Checks the requests of a route in one hook, as each hook costs time on every request. */
function guard(route: RouteOptions, { scope, template, hasETag, authorize, shedLoad }: GuardOptions): void {
  const writes = ![route.method].flat().every((method) => READING_METHODS.includes(method))
  const rejectionOf = hasETag
    ? shedLoad
    : (request: FastifyRequest) => ignoredPrecondition(request) ?? shedLoad()
  route.onRequest = (request, _reply, done) => {
    request.template = template
    const malformed = malformedRequestError(request)
    if (malformed !== undefined || scope === 'public') {
      done(malformed)
      return
    }
    recordRequestedStages(request)
    request.stages?.enter('authenticate')
    if (writes) authorize(request, scope, (rejection) => done(rejection ?? rejectionOf(request)))
    else authorize(request, scope, done)
  }
}

/** 40004 for an `If-Match` that a write would ignore: its caller relies on it. */
function ignoredPrecondition({ headers, method }: FastifyRequest): AppError | undefined {
  if (headers['if-match'] === undefined) return undefined
  return invalidParameter(IF_MATCH, `${method} on this path does not support If-Match. Send it without.`)
}

/** The error of a request that is not valid HTTP/1.1 although the parser accepts it; undefined if it is valid. */
function malformedRequestError({ raw }: FastifyRequest): AppError | undefined {
  const { headers, httpVersion, method, url } = raw
  if (httpVersion !== '1.1' && httpVersion !== '1.0')
    return new AppError(40000, 'The HTTP version is not supported. Use HTTP/1.1 or HTTP/1.0.')
  if (headers.host === undefined) {
    if (httpVersion === '1.1') return new AppError(40000, 'The Host field is required (RFC 9112 §3.2).')
  } else if (!HOST.test(headers.host)) {
    return new AppError(40000, 'The Host field must be a single host (RFC 9112 §3.2).')
  }
  // The router would take it for the path /.
  if (url === '*' && method !== 'OPTIONS') {
    return new AppError(40000, `The target * is for OPTIONS only (RFC 9112 §3.2.4). ${method} needs a path.`)
  }
  const coding = headers['transfer-encoding']
  if (coding !== undefined && (coding.toLowerCase() !== 'chunked' || httpVersion === '1.0')) {
    return new AppError(40000, 'Transfer-Encoding must be chunked, and requires HTTP/1.1.')
  }
  return undefined
}

/** The path of a route, or of several with different methods. */
interface KnownPath {
  pattern: RegExp
  methods: Set<string>
  /** Whether no method of it requires a token. */
  isPublic: boolean
}

/** The methods of the path of a request, as `Allow` lists them, and whether it is public; no methods: no such path. */
function pathOf(request: FastifyRequest, knownPaths: ReadonlyMap<string, KnownPath>) {
  const path = requestPath(request.url)
  // A literal path has precedence over a path with a parameter.
  const literal = knownPaths.get(path)
  const matching = literal
    ? [literal]
    : [...knownPaths.values()].filter(({ pattern }) => pattern.test(path) || path === '*')
  const methods = new Set(matching.flatMap((known) => [...known.methods]))
  return {
    allow: [...methods].sort().join(', '),
    isPublic: matching.length > 0 && matching.every((known) => known.isPublic),
  }
}

function patternOf(url: string): RegExp {
  const source = url.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replace(/:\w+/g, '[^/]+')
  return new RegExp(`^${source}$`)
}

function isPublicPath(path: string): boolean {
  return PUBLIC_PATHS.some(
    (known) => path === known || (known.endsWith('/') && known !== '/' && path.startsWith(known)),
  )
}
