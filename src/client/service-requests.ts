import { withExactId } from './exact-ids.ts'
import { JSON_TYPE, remove } from './plant-requests.ts'
import type { Additions, CreatedToken, NewToken, Readiness, TagCount, Token } from './plant-types.ts'
import { queryText } from './query-text.ts'
import { asList, asObject, readResponse } from './read-response.ts'
import type { CallOptions, Sender, ServiceRequest, ServiceResponse } from './send-request.ts'

export type Scope = Token['scopes'][number]

export interface ListTagsOptions extends CallOptions {
  limit?: number | undefined
}

export interface RotateTokenOptions extends CallOptions {
  /** How long the old secret stays valid, in seconds. Default: a day. 0: it expires at once. */
  graceSeconds?: number | undefined
}

const NO_SUCH_TOKEN = 40403

export async function listTags(sender: Sender, options: ListTagsOptions = {}): Promise<TagCount[]> {
  const query = queryText({ number: { limit: options.limit } })
  return sender.send({ path: `/tags${query}` }, as(asList<TagCount>), options)
}

export async function getNextId(sender: Sender, options?: CallOptions): Promise<bigint> {
  const { id } = await sender.send({ path: '/next-id' }, idIn, options)
  return id
}

export async function countAdditions(sender: Sender, options?: CallOptions): Promise<Additions> {
  return sender.send({ path: '/additions' }, as(asObject<Additions>), options)
}

export async function listTokens(sender: Sender, options?: CallOptions): Promise<Token[]> {
  return sender.send({ path: '/tokens' }, as(asList<Token>), options)
}

export async function createToken(
  sender: Sender,
  { label, scopes, expiresAt }: NewToken,
  options?: CallOptions,
): Promise<CreatedToken> {
  return postToken(sender, { path: '/tokens', statuses: [201] }, { label, scopes, expiresAt }, options)
}

export async function rotateToken(
  sender: Sender,
  id: string,
  { graceSeconds, ...options }: RotateTokenOptions = {},
): Promise<CreatedToken> {
  return postToken(sender, { path: `${tokenPath(id)}/rotate` }, { graceSeconds }, options)
}

export async function revokeToken(sender: Sender, id: string, options?: CallOptions): Promise<boolean> {
  return remove(sender, tokenPath(id), NO_SUCH_TOKEN, options)
}

export async function getOwnToken(sender: Sender, options?: CallOptions): Promise<Token> {
  return sender.send({ path: '/tokens/self' }, as(asObject<Token>), options)
}

// Neither is retried: both report the current state.

export async function getHealth(sender: Sender, options?: CallOptions): Promise<void> {
  await sender.send({ path: '/healthz', retry: 'never' }, as(asObject), options)
}

export async function getReadiness(sender: Sender, options?: CallOptions): Promise<Readiness> {
  return sender.send({ path: '/readyz', retry: 'never' }, as(asObject<Readiness>), options)
}

/** Requests a secret, which only this response has. Not retried after a lost response. */
function postToken(sender: Sender, request: ServiceRequest, body: object, options?: CallOptions) {
  return sender.send(
    { ...request, method: 'POST', headers: JSON_TYPE, body: JSON.stringify(body), retry: 'nothing-stored' },
    as(asObject<CreatedToken>),
    options,
  )
}

function tokenPath(id: string): string {
  // Encoders leave dots alone, so these would name another path.
  if (/^\.{0,2}$/.test(id)) throw new TypeError('id is not that of a token')
  return `/tokens/${encodeURIComponent(id)}`
}

/** Reads the JSON of a response with `read`. */
function as<T>(read: (parsed: unknown) => T) {
  return (response: ServiceResponse<string>) => readResponse(response, read)
}

function idIn(response: ServiceResponse<string>): { id: bigint } {
  return readResponse(response, (parsed) => withExactId<{ id: bigint }>(asObject(parsed)))
}
