import type { FastifyInstance } from 'fastify'
import { AppError } from '../../errors.ts'
import type { HeaderList } from '../response/responses.ts'
import { publish, REVALIDATE, type StaticFile, sendFile } from '../response/static-file.ts'
import { readWebAppBundle, type WebAppBundle } from './web-app-bundle.ts'
import { missingWebAppHtml, webAppHtml } from './web-app-html.ts'

export interface WebRoutesOptions {
  /** The path of the base URL, which prefixes every route: '' or '/prefix'. */
  basePath: string
  openApi: object
  /** Reads the built web app; undefined without a build. */
  readBundle?: () => Promise<WebAppBundle | undefined>
}

/** The page runs only its own scripts and sends requests only to this service, so the user's token cannot leak. */
const PAGE_FIELDS: HeaderList = [
  ...REVALIDATE,
  'content-security-policy',
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'referrer-policy',
  'no-referrer',
  'cross-origin-opener-policy',
  'same-origin',
]

/** The name of a file contains its digest: each version has another name. */
const IMMUTABLE: HeaderList = ['cache-control', 'public, max-age=31536000, immutable']

/** Public routes without plants: the web app with its files, and the OpenAPI document. */
export function registerWebRoutes(
  app: FastifyInstance,
  { basePath, openApi, readBundle = readWebAppBundle }: WebRoutesOptions,
): void {
  let json: Promise<StaticFile> | undefined
  let yaml: Promise<StaticFile> | undefined
  let built: Promise<{ bundle: WebAppBundle; page: StaticFile } | undefined> | undefined

  /** Reads the web app at the first request, and again until there is a build. A start does not wait for it. */
  function readPage() {
    built ??= readBundle().then(async (bundle) => {
      if (bundle === undefined) built = undefined
      else return { bundle, page: await publishHtml(webAppHtml(basePath, bundle)) }
    })
    built.catch(() => {
      built = undefined
    })
    return built
  }

  app.route({
    method: 'GET',
    url: '/',
    config: { scope: 'public' },
    async handler(request, reply) {
      const page = (await readPage())?.page ?? (await publishHtml(missingWebAppHtml(basePath)))
      sendFile(request, reply, page, PAGE_FIELDS)
    },
  })

  app.route<{ Params: { file: string } }>({
    method: 'GET',
    url: '/assets/:file',
    config: { scope: 'public' },
    async handler(request, reply) {
      const file = await (await readPage())?.bundle.fileNamed(request.params.file)
      if (file === undefined) throw new AppError(40401)
      sendFile(request, reply, file, IMMUTABLE)
    },
  })

  app.route({
    method: 'GET',
    url: '/openapi.json',
    config: { scope: 'public' },
    async handler(request, reply) {
      json ??= publish('application/json; charset=utf-8', Buffer.from(JSON.stringify(openApi)))
      sendFile(request, reply, await json, REVALIDATE)
    },
  })

  app.route({
    method: 'GET',
    url: '/openapi.yaml',
    config: { scope: 'public' },
    async handler(request, reply) {
      yaml ??= publishYaml(openApi)
      sendFile(request, reply, await yaml, REVALIDATE)
    },
  })
}

/** Created at the first request: it is rarely used, and a start must not wait for it. */
async function publishYaml(openApi: object): Promise<StaticFile> {
  const { stringify } = await import('yaml')
  return publish('application/yaml', Buffer.from(stringify(openApi, { aliasDuplicateObjects: false })))
}

function publishHtml(html: string): Promise<StaticFile> {
  return publish('text/html; charset=utf-8', Buffer.from(html))
}
