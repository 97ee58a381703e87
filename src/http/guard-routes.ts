import type { FastifyContextConfig, FastifyInstance, FastifyRequest, RouteOptions } from 'fastify'
import { AppError } from '../errors.ts'
import type { LoadShedding } from '../load/load-shedding.ts'
import type { CrossOrigin } from './cross-origin.ts'
import type { DescribedRoute, Operation } from './openapi.ts'
import { recordRequestedStages } from './request/request-stages.ts'
import { requestPath, templateOf } from './request/route-template.ts'
import { type HeaderList, sendEmpty } from './response/responses.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** What the served document tells of the route; left out for pages. */
    operation?: Operation
    /** Whether what the request itself caused is answered with 400 whatever its code. */
    rejectionsAre400?: true
    /**
     * Whether the path does not support these methods. The route exists only so that they do not match a path with a
     * parameter. Its handler calls `callNotFound`.
     */
    isUnsupported?: true
  }
  interface FastifyRequest {
    /** The path of its route, as the API's document writes it; null while it has none. */
    template: string | null
    /** What the request was answered with, when it failed. */
    failure: AppError | null
    /** Whether it is over, and was counted, traced and logged. */
    isRecorded: boolean
    /** Header fields that its answer has, whatever the answer is; null for none. */
    responseFields: HeaderList | null
    /** Whether it does so much that it is not slow for taking its time. */
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

/** The only paths that need no token: they hold no plants. A folder's name ends in a slash. */
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

const HOST = /^[A-Za-z0-9\-._~%!$&'()*+;=:[\]]*$/

export interface GuardRoutesOptions {
  authorize: Authorize
  /** Asked for each request that writes once it is let in, before its body is read. */
  shedLoad: LoadShedding
  /** What scripts of other origins may do; undefined for nothing. */
  crossOrigin: CrossOrigin | undefined
  basePath: string
}

/**
 * Holds for every route, in the order of judgement: sound HTTP, token, rate, scope, path, method, room for a write. A
 * route that does not declare who may use it stops the start. Returns the routes that the served document describes,
 * as they are added.
 */
export function guardRoutes(
  app: FastifyInstance,
  { authorize, shedLoad, crossOrigin, basePath }: GuardRoutesOptions,
): DescribedRoute[] {
  const described: DescribedRoute[] = []
  const methodsOfPath = new Map<string, { pattern: RegExp; methods: Set<string> }>()

  app.decorateRequest('template', null)
  app.decorateRequest('failure', null)
  app.decorateRequest('isRecorded', false)
  app.decorateRequest('responseFields', null)
  app.decorateRequest('stages', null)
  app.decorateRequest('mayTakeLong', false)
  // As never, since Fastify wants a value before there is one: no handler runs before `authenticate` has set it,
  // save on public routes, which have no caller.
  app.decorateRequest('caller', null as never)

  app.addHook('onRoute', (route) => {
    const { scope, operation, rejectionsAre400 = false, isUnsupported = false } = route.config ?? {}
    const path = route.url.slice(basePath.length) || '/'
    if (scope === undefined) throw new Error(`The route ${route.method} ${route.url} declares no scope`)
    if (scope === 'public' && !isPublicPath(path)) throw new Error(`The route ${route.url} may not be public`)
    const known = methodsOfPath.get(route.url) ?? {
      pattern: patternOf(route.url),
      methods: new Set(['OPTIONS']),
    }
    methodsOfPath.set(route.url, known)
    for (const method of [route.method].flat()) {
      if (!isUnsupported) known.methods.add(method)
      if (operation !== undefined && method !== 'HEAD') {
        described.push({ method, url: path, scope, operation, rejectionsAre400 })
      }
    }
    guard(route, { scope, template: templateOf(path), authorize, shedLoad })
  })

  if (crossOrigin !== undefined) {
    app.addHook('onRequest', (request, _reply, done) => {
      crossOrigin.mark(request)
      done()
    })
  }
  app.setNotFoundHandler((request, reply) => {
    const fault = malformedRequestError(request)
    if (fault !== undefined) throw fault
    // The same methods whatever the path: without a token nobody is told which paths there are.
    if (crossOrigin?.sendPreflight(request, reply, EVERY_METHOD)) return
    authorize(request, 'any', (refusal) => {
      if (refusal !== undefined) return void reply.send(refusal)
      const allow = methodsAt(request, methodsOfPath)
      if (allow === undefined) reply.send(new AppError(40401))
      else if (request.method === 'OPTIONS') sendEmpty(reply, 204, ['allow', allow])
      else {
        const message = `This path does not take ${request.method}: it takes ${allow}.`
        reply.send(new AppError(40501, message, { headers: { allow } }))
      }
    })
  })
  return described
}

interface GuardOptions extends Pick<GuardRoutesOptions, 'authorize' | 'shedLoad'> {
  scope: RouteScope
  template: string
}

/** Checks the requests of a route in one hook, as each hook costs something on every request. */
function guard(route: RouteOptions, { scope, template, authorize, shedLoad }: GuardOptions): void {
  const writes = ![route.method].flat().every((method) => READING_METHODS.includes(method))
  route.onRequest = (request, _reply, done) => {
    request.template = template
    const fault = malformedRequestError(request)
    if (fault !== undefined || scope === 'public') {
      done(fault)
      return
    }
    recordRequestedStages(request)
    request.stages?.enter('authenticate')
    if (writes) authorize(request, scope, (rejection) => done(rejection ?? shedLoad()))
    else authorize(request, scope, done)
  }
}

/** What of a request is not sound HTTP/1.1 though the parser lets it pass; undefined when all is well. */
function malformedRequestError({ raw }: FastifyRequest): AppError | undefined {
  const { headers, httpVersion } = raw
  if (httpVersion !== '1.1' && httpVersion !== '1.0')
    return new AppError(40000, 'Speak HTTP/1.1 or HTTP/1.0.')
  if (headers.host === undefined) {
    if (httpVersion === '1.1') return new AppError(40000, 'The Host field is missing (RFC 9112 §3.2).')
  } else if (!HOST.test(headers.host)) {
    return new AppError(40000, 'The Host field is not one host (RFC 9112 §3.2).')
  }
  const coding = headers['transfer-encoding']
  if (coding !== undefined && (coding.toLowerCase() !== 'chunked' || httpVersion === '1.0')) {
    return new AppError(40000, 'The only Transfer-Encoding is chunked, in HTTP/1.1.')
  }
  return undefined
}

/**
 * The methods of the path that a request names, as `Allow` lists them; undefined when there is no such path.
 */
function methodsAt(
  request: FastifyRequest,
  methodsOfPath: ReadonlyMap<string, { pattern: RegExp; methods: ReadonlySet<string> }>,
): string | undefined {
  const path = requestPath(request.url)
  // A path that is spelled out comes before one with a parameter that would fit.
  const methods = new Set<string>(methodsOfPath.get(path)?.methods)
  if (methods.size === 0) {
    for (const { pattern, methods: those } of methodsOfPath.values()) {
      if (pattern.test(path) || path === '*') for (const method of those) methods.add(method)
    }
  }
  return methods.size === 0 ? undefined : [...methods].sort().join(', ')
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
