import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { parsePreferences } from '../request/accept.ts'
import { type HeaderList, sendBody, sendJson } from './responses.ts'

/** Smaller responses fit into one packet anyway. */
const COMPRESSED_FROM_BYTES = 1_400

/** The fastest level: one client waits for the result. */
export const GZIP_LEVEL = 1

/**
 * Characters that are compressed at the same time; beyond it responses are not compressed. Each takes several bytes.
 */
const COMPRESSING_CHARACTERS_MAX = 64 * 1024 * 1024

const compressText = promisify(gzip)

/** Whether a request accepts gzip, and does not prefer the uncompressed response (RFC 9110 §12.5.3). */
export function acceptsGzip({ headers }: FastifyRequest): boolean {
  const codings = parsePreferences(String(headers['accept-encoding'] ?? ''))
  const qualities = new Map(
    codings.map(({ value, quality }) => [value === 'x-gzip' ? 'gzip' : value, quality]),
  )
  const gzip = qualities.get('gzip') ?? qualities.get('*') ?? 0
  return gzip > 0 && gzip >= (qualities.get('identity') ?? 0)
}

/**
 * Sends JSON with the status 200, compressed if the client accepts it. Only for bodies without secrets: the compressed
 * length reveals something of the content.
 */
export type SendLongJson = (
  request: FastifyRequest,
  reply: FastifyReply,
  json: string,
  fields?: HeaderList,
) => Promise<void>

/** Creates the sender of an app: all its responses share the limit on characters that are compressed at once. */
export function createSendLongJson(compressingCharactersMax = COMPRESSING_CHARACTERS_MAX): SendLongJson {
  let compressingCharacters = 0

  async function compress(text: string): Promise<Buffer> {
    compressingCharacters += text.length
    try {
      return await compressText(text, { level: GZIP_LEVEL })
    } finally {
      compressingCharacters -= text.length
    }
  }

  return async (request, reply, json, fields = []) => {
    const all = [...fields, 'vary', 'accept-encoding']
    const isCompressible =
      json.length >= COMPRESSED_FROM_BYTES && compressingCharacters + json.length <= compressingCharactersMax
    if (!isCompressible || !acceptsGzip(request)) {
      sendJson(reply, 200, json, all)
      return
    }
    const body = await compress(json)
    sendBody(reply, 200, 'application/json; charset=utf-8', body, ['content-encoding', 'gzip', ...all])
  }
}
