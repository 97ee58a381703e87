import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { acceptsGzip } from './compression.ts'
import { type HeaderList, sendBody, sendEmpty } from './responses.ts'

/** A file as it is served: its bytes, the same compressed, and what tells it from another version of it. */
export interface StaticFile {
  mediaType: string
  plain: Buffer
  gzipped: Buffer
  digest: string
}

/** For a name that stays from version to version: a browser asks each time whether its copy is current. */
export const REVALIDATE: HeaderList = ['cache-control', 'no-cache']

export async function publish(mediaType: string, plain: Buffer): Promise<StaticFile> {
  const digest = createHash('sha256').update(plain).digest('base64url').slice(0, 16)
  return { mediaType, plain, gzipped: await promisify(gzip)(plain), digest }
}

/** Answers with the file, compressed for those who take it so, or with 304 to those who have it. */
export function sendFile(
  request: FastifyRequest,
  reply: FastifyReply,
  { mediaType, plain, gzipped, digest }: StaticFile,
  fields: HeaderList,
): void {
  const { 'if-none-match': known = '' } = request.headers
  const zipped = acceptsGzip(request)
  const etag = `"${digest}${zipped ? '-gzip' : ''}"`
  const all = ['etag', etag, 'vary', 'accept-encoding', ...fields]
  if (known.includes(etag)) sendEmpty(reply, 304, all)
  else if (zipped) sendBody(reply, 200, mediaType, gzipped, ['content-encoding', 'gzip', ...all])
  else sendBody(reply, 200, mediaType, plain, all)
}
