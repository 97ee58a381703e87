import assert from 'node:assert/strict'
import type { FieldError } from '../../../src/errors.ts'
import { errorIn } from '../../support/http/error-body.ts'
import type { StartedApp } from '../../support/http/start-app.ts'

export const NDJSON = 'application/x-ndjson'
export const CSV = 'text/csv'

export interface Report {
  created: number
  replaced: number
  skipped: number
  failed: number
  errors: { line: number; id?: bigint; error: number; message: string; fields?: readonly FieldError[] }[]
}

type Body = string | Buffer | ReadableStream<Uint8Array>

/** Parses JSON with its ids as exact bigints. */
export function parseIds(json: string): unknown {
  return JSON.parse(json.replace(/"id":(-?\d+)/g, '"id":"$1"'), (name, value) =>
    name === 'id' ? BigInt(value) : value,
  )
}

/** Posts an import: NDJSON, unless `headers` have another Content-Type. */
export function postImport(
  app: Pick<StartedApp, 'fetch'>,
  body: Body,
  { query = '', headers = {} }: { query?: string; headers?: Record<string, string> } = {},
): Promise<Response> {
  return app.fetch(`/plants/import${query}`, {
    method: 'POST',
    body: body as NonNullable<RequestInit['body']>,
    headers: { 'content-type': NDJSON, ...headers },
    // Required by fetch for a stream as the body.
    ...(body instanceof ReadableStream && { duplex: 'half' }),
  })
}

/** The report of a completed import. */
export async function importReport(...parameters: Parameters<typeof postImport>): Promise<Report> {
  const response = await postImport(...parameters)
  const text = await response.text()
  assert.equal(response.status, 200, text)
  assert.equal(response.headers.get('content-type'), 'application/json; charset=utf-8')
  return parseIds(text) as Report
}

/** Posts CSV. */
export function importCsv(app: Pick<StartedApp, 'fetch'>, body: Body, query = ''): Promise<Report> {
  return importReport(app, body, { query, headers: { 'content-type': CSV } })
}

/** The counts of a report. */
export function countsOf({ created, replaced, skipped, failed }: Report): number[] {
  return [created, replaced, skipped, failed]
}

/** Lines and codes of the failed rows. */
export function errorsOf({ errors }: Report): [line: number, error: number][] {
  return errors.map(({ line, error }) => [line, error])
}

/** The rules that the failed rows violate, as `field rule`. */
export function rulesOf({ errors }: Report): string[] {
  return errors.flatMap(({ fields = [] }) => fields.map(({ name, rule }) => `${name} ${rule}`))
}

/** Every plant as a line of the NDJSON export. */
export async function exportedLines(app: Pick<StartedApp, 'fetch'>, query = ''): Promise<string[]> {
  const response = await app.fetch(`/plants${query}`, { headers: { accept: NDJSON } })
  assert.equal(response.status, 200)
  return (await response.text()).split('\n').slice(0, -1)
}

/** Every plant as [id, name, tag]. */
export async function storedPlants(app: Pick<StartedApp, 'fetch'>): Promise<unknown[]> {
  return (await exportedLines(app)).map((line) => {
    const { id, name, tag } = parseIds(line) as { id: bigint; name: string; tag?: string }
    return tag === undefined ? [id, name] : [id, name, tag]
  })
}

/** Every plant as [id, name, tag]; deletes them. */
export async function takePlants(app: Pick<StartedApp, 'fetch'>): Promise<unknown[]> {
  const plants = (await storedPlants(app)) as [bigint, string][]
  for (const [id] of plants) await app.fetch(`/plants/${id}`, { method: 'DELETE' })
  return plants
}

/** The message and details of a rejected or failed CSV import. */
export async function rejectedCsv(
  app: Pick<StartedApp, 'fetch'>,
  body: string | Buffer,
  code: 40002 | 40003 | 40004,
  query = '',
): ReturnType<typeof errorIn> {
  return errorIn(await postImport(app, body, { query, headers: { 'content-type': CSV } }), 400, code)
}
