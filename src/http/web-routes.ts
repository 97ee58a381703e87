import type { FastifyInstance } from 'fastify'
import { answerBody, answerJson } from './answers.ts'

export interface WebRoutesParts {
  /** The path of the base URL, before every path that is answered: '' or '/prefix'. */
  basePath: string
  openApi: object
}

/** The page holds no script and asks nobody for anything. */
const PAGE_POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/** What is for people and tools, and holds no plants: the first page and the OpenAPI document. */
export function registerWebRoutes(app: FastifyInstance, { basePath, openApi }: WebRoutesParts): void {
  const json = JSON.stringify(openApi)
  let yaml: string | undefined
  const page = firstPage(basePath)

  app.route({
    method: 'GET',
    url: '/',
    config: { scope: 'public' },
    handler(_request, reply) {
      answerBody(reply, 200, 'text/html; charset=utf-8', page, ['content-security-policy', PAGE_POLICY])
    },
  })

  app.route({
    method: 'GET',
    url: '/openapi.json',
    config: { scope: 'public' },
    handler(_request, reply) {
      answerJson(reply, 200, json)
    },
  })

  app.route({
    method: 'GET',
    url: '/openapi.yaml',
    config: { scope: 'public' },
    async handler(_request, reply) {
      // Made when somebody asks: few do, and a start should not wait for it.
      yaml ??= (await import('yaml')).stringify(openApi, { aliasDuplicateObjects: false })
      answerBody(reply, 200, 'application/yaml', yaml)
    },
  })
}

function firstPage(basePath: string): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Plant Store</title>
<link rel="icon" href="${basePath}/docs/leaf.svg" type="image/svg+xml">
<style>
  :root { color-scheme: light dark; font: 1.0625rem/1.6 system-ui, sans-serif; }
  body { max-width: 40rem; margin: 12vh auto; padding: 0 1.25rem; }
  h1 { line-height: 1.2; }
  a { color: light-dark(#1d6b34, #7fd494); }
  pre { overflow-x: auto; padding: .9rem 1rem; border-radius: .5rem; background: light-dark(#eef4ee, #1c261e); }
</style>
<h1>Plant Store</h1>
<p>This service keeps plants: what it answered with 200 is on disk. Programs talk to it over HTTP with JSON and a
bearer token.</p>
<pre>curl ${basePath}/plants -H "Authorization: Bearer $TOKEN"</pre>
<ul>
  <li><a href="${basePath}/docs">Read the API reference and try it</a></li>
  <li><a href="${basePath}/openapi.json">openapi.json</a> and <a href="${basePath}/openapi.yaml">openapi.yaml</a></li>
  <li><a href="${basePath}/healthz">/healthz</a> and <a href="${basePath}/readyz">/readyz</a></li>
</ul>
</html>
`
}
