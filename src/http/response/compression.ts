import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type HeaderList, sendBody, sendJson } from './responses.ts'

/** What is smaller fits in one packet anyway. */
const COMPRESSED_FROM_BYTES = 1_400

/** The quickest: what is compressed here is made for one reader, who waits for it. */
export const GZIP_LEVEL = 1

/**
 * Characters that are compressed at once, each of which takes several bytes until its response is sent; what comes
 * beyond them is sent uncompressed.
 */
const COMPRESSING_CHARACTERS_MAX = 64 * 1024 * 1024

/** What the threads of this process compress now. */
let compressingCharacters = 0

const compressText = promisify(gzip)

async function compress(text: string): Promise<Buffer> {
  compressingCharacters += text.length
  try {
    return await compressText(text, { level: GZIP_LEVEL })
  } finally {
    compressingCharacters -= text.length
  }
}

/** A coding of an Accept-Encoding field, with how much it is liked. */
const CODING = /^\s*([^;\s]+)\s*(?:;\s*q=([0-9.]+)\s*)?$/

/** Whether a request takes gzip, and likes nothing packed no better (RFC 9110 §12.5.3). */
export function acceptsGzip({ headers }: FastifyRequest): boolean {
  const qualities = new Map<string, number>()
  for (const part of String(headers['accept-encoding'] ?? '')
    .toLowerCase()
    .split(',')) {
    const [, coding, quality = '1'] = CODING.exec(part) ?? []
    if (coding !== undefined) qualities.set(coding === 'x-gzip' ? 'gzip' : coding, Number(quality))
  }
  const gzip = qualities.get('gzip') ?? qualities.get('*') ?? 0
  return gzip > 0 && gzip >= (qualities.get('identity') ?? 0)
}

/**
 * Answers with 200 and JSON, compressed for those who take it so. Only for what holds no secret: how long it
 * becomes tells something of what is in it.
 */
export async function sendLongJson(
  request: FastifyRequest,
  reply: FastifyReply,
  json: string,
  fields: HeaderList = [],
): Promise<void> {
  const all = [...fields, 'vary', 'accept-encoding']
  const isWorthIt =
    json.length >= COMPRESSED_FROM_BYTES && compressingCharacters + json.length <= COMPRESSING_CHARACTERS_MAX
  if (!isWorthIt || !acceptsGzip(request)) {
    sendJson(reply, 200, json, all)
    return
  }
  const body = await compress(json)
  sendBody(reply, 200, 'application/json; charset=utf-8', body, ['content-encoding', 'gzip', ...all])
}
