import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { acceptsGzip } from './compression.ts'
import { answerBody, answerEmpty, type HeaderList } from './responses.ts'

/** A file as it is served: its bytes, the same compressed, and what tells it from another version of it. */
export interface PublishedFile {
  mediaType: string
  plain: Buffer
  gzipped: Buffer
  digest: string
}

/** For a name that stays from version to version: a browser asks each time whether its copy is current. */
export const REVALIDATE: HeaderList = ['cache-control', 'no-cache']

export async function publish(mediaType: string, plain: Buffer): Promise<PublishedFile> {
  const digest = createHash('sha256').update(plain).digest('base64url').slice(0, 16)
  return { mediaType, plain, gzipped: await promisify(gzip)(plain), digest }
}

/** Answers with the file, compressed for those who take it so, or with 304 to those who have it. */
export function answerFile(
  request: FastifyRequest,
  reply: FastifyReply,
  { mediaType, plain, gzipped, digest }: PublishedFile,
  fields: HeaderList,
): void {
  const { 'if-none-match': known = '' } = request.headers
  const zipped = acceptsGzip(request)
  const etag = `"${digest}${zipped ? '-gzip' : ''}"`
  const all = ['etag', etag, 'vary', 'accept-encoding', ...fields]
  if (known.includes(etag)) answerEmpty(reply, 304, all)
  else if (zipped) answerBody(reply, 200, mediaType, gzipped, ['content-encoding', 'gzip', ...all])
  else answerBody(reply, 200, mediaType, plain, all)
}
