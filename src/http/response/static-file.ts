import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { acceptsGzip } from './compression.ts'
import { type HeaderList, sendBody, sendEmpty } from './responses.ts'

/** A served file: its bytes, uncompressed and compressed, and a digest that identifies its version. */
export interface StaticFile {
  mediaType: string
  plain: Buffer
  gzipped: Buffer
  digest: string
}

/** For a name that is the same in each version: a browser revalidates its copy each time. */
export const REVALIDATE: HeaderList = ['cache-control', 'no-cache']

export async function publish(mediaType: string, plain: Buffer): Promise<StaticFile> {
  const digest = createHash('sha256').update(plain).digest('base64url').slice(0, 16)
  return { mediaType, plain, gzipped: await promisify(gzip)(plain), digest }
}

/** Sends the file, compressed if the client accepts it, or 304 if the client has it. */
export function sendFile(
  request: FastifyRequest,
  reply: FastifyReply,
  { mediaType, plain, gzipped, digest }: StaticFile,
  fields: HeaderList,
): void {
  const { 'if-none-match': known = '' } = request.headers
  const isGzipped = acceptsGzip(request)
  const etag = `"${digest}${isGzipped ? '-gzip' : ''}"`
  const all = ['etag', etag, 'vary', 'accept-encoding', ...fields]
  if (known.includes(etag)) sendEmpty(reply, 304, all)
  else if (isGzipped) sendBody(reply, 200, mediaType, gzipped, ['content-encoding', 'gzip', ...all])
  else sendBody(reply, 200, mediaType, plain, all)
}
