import { readFile } from 'node:fs/promises'
import type { FastifyInstance } from 'fastify'
import { AppError } from '../../errors.ts'
import { publish, REVALIDATE, type StaticFile, sendFile } from '../response/static-file.ts'

export interface DocsRoutesOptions {
  /** The path of the base URL, which prefixes every route: '' or '/prefix'. */
  basePath: string
}

const SCRIPT = 'text/javascript; charset=utf-8'
const STYLES = 'text/css; charset=utf-8'

/** Every file below /docs/. Names from clients are looked up only here. */
const FILES: ReadonlyMap<string, { mediaType: string; location: string }> = new Map([
  ['swagger-ui-bundle.js', { mediaType: SCRIPT, location: '#swagger-ui/swagger-ui-bundle.js' }],
  ['swagger-ui.css', { mediaType: STYLES, location: '#swagger-ui/swagger-ui.css' }],
  ['reference.js', { mediaType: SCRIPT, location: '../../../web/docs/reference.js' }],
  ['reference.css', { mediaType: STYLES, location: '../../../web/docs/reference.css' }],
  ['leaf.svg', { mediaType: 'image/svg+xml', location: '../../../web/docs/leaf.svg' }],
])

/**
 * The page runs only its own scripts and sends requests only to this service, so a token that is pasted into it cannot
 * leak. Swagger UI's stylesheet has its icons in `data:` URLs.
 */
const PAGE_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/** The interactive reference of the API: a page at /docs and its files. */
export function registerDocsRoutes(app: FastifyInstance, { basePath }: DocsRoutesOptions): void {
  const page = publish('text/html; charset=utf-8', Buffer.from(docsPage(basePath)))
  const cached = new Map<string, Promise<StaticFile>>()

  /** Reads a file at its first request: it is rarely used, and a start must not wait for two megabytes. */
  function fileNamed(name: string): Promise<StaticFile> {
    const known = cached.get(name)
    if (known !== undefined) return known
    const file = FILES.get(name)
    if (file === undefined) throw new AppError(40401)
    const reading = readFile(new URL(import.meta.resolve(file.location))).then((bytes) =>
      publish(file.mediaType, bytes),
    )
    cached.set(name, reading)
    // The next request retries a read that failed.
    reading.catch(() => cached.delete(name))
    return reading
  }

  app.route({
    method: 'GET',
    url: '/docs',
    config: { scope: 'public' },
    async handler(request, reply) {
      sendFile(request, reply, await page, [
        ...REVALIDATE,
        'content-security-policy',
        PAGE_POLICY,
        'referrer-policy',
        'no-referrer',
        'cross-origin-opener-policy',
        'same-origin',
      ])
    },
  })

  app.route<{ Params: { file: string } }>({
    method: 'GET',
    url: '/docs/:file',
    config: { scope: 'public' },
    async handler(request, reply) {
      sendFile(request, reply, await fileNamed(request.params.file), REVALIDATE)
    },
  })
}

function docsPage(base: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>Plant Store API reference</title>
<link rel="icon" href="${base}/docs/leaf.svg" type="image/svg+xml">
<link rel="stylesheet" href="${base}/docs/swagger-ui.css">
<link rel="stylesheet" href="${base}/docs/reference.css">
<script src="${base}/docs/swagger-ui-bundle.js" defer></script>
<script src="${base}/docs/reference.js" type="module"></script>
</head>
<body data-base-path="${base}">
<header>
<a class="home" href="${base}/">
<img src="${base}/docs/leaf.svg" alt="" width="28" height="28"> Plant Store</a>
<nav aria-label="OpenAPI document">
<a href="${base}/openapi.json">openapi.json</a>
<a href="${base}/openapi.yaml">openapi.yaml</a>
</nav>
</header>
<main id="reference"><p class="notice">Loading the reference …</p></main>
<noscript><p class="notice">This page needs JavaScript. The reference is also in
<a href="${base}/openapi.yaml">openapi.yaml</a>.</p></noscript>
</body>
</html>
`
}
