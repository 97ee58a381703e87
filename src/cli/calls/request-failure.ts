import { RequestError } from '../../client/request-error.ts'
import { printable } from '../../printable.ts'
import { CommandFailure } from '../output/command-failure.ts'
import { sentences } from '../output/sentences.ts'

/** 401: no token, or one that is not valid. */
const UNAUTHORIZED = 401
const SERVER_ERROR = 500
/** The code of the service for a path that it does not have. */
const NO_PATH = 40401
/** A name that has no address, or none now. */
const LOOK_UP_CODES = ['ENOTFOUND', 'EAI_AGAIN']
/** What answers speaks no TLS: most likely plain HTTP. */
const NO_TLS_CODES = ['ERR_SSL_WRONG_VERSION_NUMBER', 'ERR_SSL_PACKET_LENGTH_TOO_LONG']
/** The certificate that answers is signed by nobody whom Node knows (OpenSSL, "verify"). */
const UNTRUSTED_CODES = [
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]
/** So a gateway answers whose service does not. */
const GATEWAY_STATUSES = [502, 503, 504]
/** The flags for parameters of the query. */
const FLAGS: ReadonlyMap<string, string> = new Map([
  ['columns', '--columns'],
  ['idStart', '--id-start'],
  ['encoding', '--encoding'],
])

/** What people are told of a failed request; whatever is no failed request stays as it is. */
export function requestFailure(error: unknown, url: string, mayBeDone = true): unknown {
  if (!(error instanceof RequestError)) return error
  const text = requestFailureText(error, url)
  const failure = new CommandFailure(text)
  return error.isOutcomeUnknown && mayBeDone ? maybeDone(failure) : failure
}

/** The failure of a write of which nobody knows what became. */
export function maybeDone({ message, exitCode }: CommandFailure): CommandFailure {
  return new CommandFailure(sentences(message, 'It may have been done all the same.'), exitCode)
}

function requestFailureText(error: RequestError, url: string): string {
  if (error.kind === 'connection') return connectionFailureText(error, url)
  const message = printable(error.message)
  const { code, details, status = 0, requestId } = error
  if (error.kind === 'response' && GATEWAY_STATUSES.includes(status)) {
    return sentences(message, 'Something in front of it answered: perhaps the service is not running.')
  }
  if (error.kind !== 'service') return sentences(message, `Is ${url} where the service is?`)
  const request = status >= SERVER_ERROR && requestId !== undefined ? `, request ${printable(requestId)}` : ''
  const hint = hintFor(code, status, url)
  const [field] = details.fields ?? []
  const place = field?.line === undefined ? '' : `line ${field.line}: `
  return `${place}${message} (code ${code}${request})${flagHint(details)}${hint}`
}

function hintFor(code: number | undefined, status: number, url: string): string {
  if (code === NO_PATH) return ` Is ${url} where the service is, with its base path?`
  return status === UNAUTHORIZED
    ? ' On the machine of the service, "plantstore token create" makes a token.'
    : ''
}

/** The flags with which a file can be imported that the service rejected; empty where there are none. */
export function flagHint({
  parameter = '',
  fields = [],
}: {
  parameter?: string
  fields?: readonly { name: string; rule: string; line?: number }[]
}): string {
  const flags = new Set<string>()
  const flag = FLAGS.get(parameter)
  if (flag !== undefined) flags.add(flag)
  for (const { name, rule, line } of fields) {
    if (rule === 'utf-8') flags.add('--encoding')
    // A column that the header row lacks has its line, unlike a field that a row lacks.
    if (rule !== 'required' || (line === undefined && parameter === '')) continue
    flags.add('--columns')
    if (name === 'id') flags.add('--id-start')
  }
  return flags.size === 0 ? '' : ` See ${[...flags].join(' and ')}.`
}

/** Whether no connection was made, so that nothing was sent. */
export function isUnreachable(error: unknown): boolean {
  const codes = ['ECONNREFUSED', ...LOOK_UP_CODES, ...NO_TLS_CODES, ...UNTRUSTED_CODES]
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
  if (isCode(...NO_TLS_CODES)) {
    return `What answers at ${url} does not speak HTTPS: try ${url.replace(/^https:/i, 'http:')}`
  }
  if (isCode(...UNTRUSTED_CODES)) {
    return `The certificate of ${url} is not trusted here: name its file, or that of who signed it, in NODE_EXTRA_CA_CERTS.`
  }
  const isPlain = new URL(url).protocol === 'http:'
  if (isPlain && isCode('UND_ERR_SOCKET') && causes.some(({ socket }) => socket?.bytesRead === 0)) {
    return `What listens at ${url} hangs up without an answer. Where it speaks HTTPS, try ${url.replace(/^http:/i, 'https:')}`
  }
  return sentences(printable(error.message))
}

/** An error of a connection; of one that was lost, Node's fetch tells what had come over it. */
interface ConnectionCause extends NodeJS.ErrnoException {
  socket?: { bytesRead: number }
}

/** An error and what lies behind it. A host with several addresses has an error for each. */
function causesOf(error: unknown): ConnectionCause[] {
  if (!(error instanceof Error)) return []
  const others = error instanceof AggregateError ? error.errors : []
  return [error, ...causesOf(error.cause), ...others.flatMap(causesOf)]
}
