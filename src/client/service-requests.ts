import { absent } from './plant-requests.ts'
import type { CreatedToken, NewToken, TagCount, Token } from './plant-types.ts'
import { asList, asObject, readAnswer } from './read-answer.ts'
import type { CallOptions, Sender, ServiceRequest } from './send-request.ts'

export type Scope = Token['scopes'][number]

export interface ListTagsOptions extends CallOptions {
  limit?: number | undefined
}

const NO_SUCH_TOKEN = 40403

export async function listTags(sender: Sender, options: ListTagsOptions = {}): Promise<TagCount[]> {
  const { limit } = options
  const query = limit === undefined ? '' : `?limit=${limit}`
  return readAnswer(await sender.send(reading(`/tags${query}`), options), asList<TagCount>)
}

export async function listTokens(sender: Sender, options?: CallOptions): Promise<Token[]> {
  return readAnswer(await sender.send(reading('/tokens'), options), asList<Token>)
}

export async function createToken(
  sender: Sender,
  { label, scopes, expiresAt }: NewToken,
  options?: CallOptions,
): Promise<CreatedToken> {
  const request: ServiceRequest = {
    method: 'POST',
    path: '/tokens',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ label, scopes, expiresAt }),
    statuses: [201],
    repeat: 'refused',
  }
  return readAnswer(await sender.send(request, options), asObject<CreatedToken>)
}

export async function revokeToken(sender: Sender, id: string, options?: CallOptions): Promise<boolean> {
  const path = `/tokens/${encodeURIComponent(id)}`
  try {
    await sender.send({ method: 'DELETE', path, statuses: [204], repeat: 'always' }, options)
    return true
  } catch (error) {
    return absent(error, NO_SUCH_TOKEN).isOutcomeUnknown
  }
}

export async function getOwnToken(sender: Sender, options?: CallOptions): Promise<Token> {
  return readAnswer(await sender.send(reading('/tokens/self'), options), asObject<Token>)
}

export function getHealth(sender: Sender, options?: CallOptions): Promise<void> {
  return askStatus(sender, '/healthz', options)
}

export function getReadiness(sender: Sender, options?: CallOptions): Promise<void> {
  return askStatus(sender, '/readyz', options)
}

/** Not repeated: the answer of this moment is what is asked for. */
async function askStatus(sender: Sender, path: string, options?: CallOptions): Promise<void> {
  readAnswer(await sender.send({ ...reading(path), repeat: 'never' }, options), asObject)
}

function reading(path: string): ServiceRequest {
  return { method: 'GET', path, statuses: [200], repeat: 'always' }
}
