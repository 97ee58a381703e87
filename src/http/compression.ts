import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { answerBody, answerJson, type HeaderList } from './answers.ts'

/** What is smaller fits in one packet anyway. */
const COMPRESSED_FROM_BYTES = 1_400

/** The quickest: what is compressed here is made for one reader, who waits for it. */
export const GZIP_LEVEL = 1

const compress = promisify(gzip)

/** Whether a request takes gzip: an Accept-Encoding field names it and does not rule it out (RFC 9110 §12.5.3). */
export function acceptsGzip({ headers }: FastifyRequest): boolean {
  return String(headers['accept-encoding'] ?? '')
    .toLowerCase()
    .split(',')
    .some((coding) => /^\s*(?:x-)?gzip\s*(?:;\s*q=(?!0(?:\.0*)?\s*$).*)?$/.test(coding))
}

/**
 * Answers with 200 and JSON, compressed for those who take it so. Only for what holds no secret: how long it
 * becomes tells something of what is in it.
 */
export async function answerLongJson(
  request: FastifyRequest,
  reply: FastifyReply,
  json: string,
  fields: HeaderList = [],
): Promise<void> {
  const all = [...fields, 'vary', 'accept-encoding']
  if (json.length < COMPRESSED_FROM_BYTES || !acceptsGzip(request)) {
    answerJson(reply, 200, json, all)
    return
  }
  const body = await compress(json, { level: GZIP_LEVEL })
  answerBody(reply, 200, 'application/json; charset=utf-8', body, ['content-encoding', 'gzip', ...all])
}
