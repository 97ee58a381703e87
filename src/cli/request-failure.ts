import { RequestError } from '../client/request-error.ts'
import { CommandFailure } from './command-failure.ts'
import { printable } from './printable.ts'

/** 401: no token, or one that is not valid. */
const UNAUTHORIZED = 401
const SERVER_ERROR = 500
/** A name that has no address, or none now. */
const LOOK_UP_CODES = ['ENOTFOUND', 'EAI_AGAIN']

/** What people are told of a failed request; whatever is no failed request stays as it is. */
export function requestFailure(error: unknown, url: string): unknown {
  return error instanceof RequestError ? new CommandFailure(requestFailureText(error, url)) : error
}

export function requestFailureText(error: RequestError, url: string): string {
  if (error.kind === 'connection') return connectionFailureText(error, url)
  const message = printable(error.message)
  if (error.kind !== 'service') return `${message.replace(/\.$/, '')}. Is ${url} where the service is?`
  const { code, status = 0, requestId } = error
  const request = status >= SERVER_ERROR && requestId !== undefined ? `, request ${printable(requestId)}` : ''
  const hint =
    status === UNAUTHORIZED ? ' On the machine of the service, "plantstore token create" makes a token.' : ''
  return `${message} (code ${code}${request})${hint}`
}

/** Whether no connection was made, so that nothing was sent. */
export function isUnreachable(error: unknown): boolean {
  const codes = ['ECONNREFUSED', ...LOOK_UP_CODES]
  return causesOf(error).some(({ code }) => codes.includes(code ?? ''))
}

function connectionFailureText(error: RequestError, url: string): string {
  const causes = causesOf(error)
  const isCode = (...codes: string[]) => causes.some(({ code }) => codes.includes(code ?? ''))
  if (isCode('ECONNREFUSED')) {
    return `Nothing answers at ${url}: is the service running? --url or PLANTSTORE_URL tells where it is.`
  }
  if (isCode(...LOOK_UP_CODES)) {
    return `There is no host ${new URL(url).hostname}, or its name cannot be looked up now: see --url or PLANTSTORE_URL.`
  }
  return printable(error.message)
}

/** An error and what lies behind it. A host with several addresses has an error for each. */
function causesOf(error: unknown): NodeJS.ErrnoException[] {
  if (!(error instanceof Error)) return []
  const others = error instanceof AggregateError ? error.errors : []
  return [error, ...causesOf(error.cause), ...others.flatMap(causesOf)]
}
