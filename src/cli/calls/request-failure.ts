import { RequestError } from '../../client/request-error.ts'
import { printable } from '../../printable.ts'
import { CommandFailure } from '../output/command-failure.ts'
import { sentences } from '../output/sentences.ts'

const UNAUTHORIZED = 401
const SERVER_ERROR = 500
/** The service's error code for an unknown path. */
const UNKNOWN_PATH = 40401
/** The host name cannot be resolved. */
const DNS_CODES = ['ENOTFOUND', 'EAI_AGAIN']
/** The server does not speak TLS; most likely plain HTTP. */
const NO_TLS_CODES = ['ERR_SSL_WRONG_VERSION_NUMBER', 'ERR_SSL_PACKET_LENGTH_TOO_LONG']
/** Node trusts no issuer of the certificate (OpenSSL, "verify"). */
const UNTRUSTED_CODES = [
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]
/** What a gateway sends if it cannot reach the service. */
const GATEWAY_STATUSES = [502, 503, 504]
/** The flags of query parameters. */
const FLAGS: ReadonlyMap<string, string> = new Map([
  ['columns', '--columns'],
  ['idStart', '--id-start'],
  ['encoding', '--encoding'],
])

/** The CommandFailure of a failed request. Any other error is returned unchanged. */
export function requestFailure(error: unknown, url: string, mayBeApplied = true): unknown {
  if (!(error instanceof RequestError)) return error
  const text = requestFailureText(error, url)
  const failure = new CommandFailure(text)
  return error.isOutcomeUnknown && mayBeApplied ? maybeApplied(failure) : failure
}

/** The failure of a write that may have been applied. */
export function maybeApplied({ message, exitCode }: CommandFailure): CommandFailure {
  return new CommandFailure(sentences(message, 'It may have been applied all the same.'), exitCode)
}

function requestFailureText(error: RequestError, url: string): string {
  if (error.kind === 'connection') return connectionFailureText(error, url)
  const message = printable(error.message)
  const { code, details, status = 0, requestId } = error
  if (error.kind === 'response' && GATEWAY_STATUSES.includes(status)) {
    return sentences(message, 'A gateway sent this response: check that the service is running.')
  }
  if (error.kind !== 'service') return sentences(message, `Check the URL ${url}.`)
  const request = status >= SERVER_ERROR && requestId !== undefined ? `, request ${printable(requestId)}` : ''
  const hint = hintFor(code, status, url)
  const [field] = details.fields ?? []
  const place = field?.line === undefined ? '' : `line ${field.line}: `
  return `${place}${message} (code ${code}${request})${flagHint(details)}${hint}`
}

function hintFor(code: number | undefined, status: number, url: string): string {
  if (code === UNKNOWN_PATH) return ` Check the URL ${url}: it must include the base path of the service.`
  return status === UNAUTHORIZED
    ? ' Create a token with "plantstore token create" on the machine of the service.'
    : ''
}

/** A hint at the flags that make a rejected file importable. Empty if none would. */
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
    // A column missing from the header row has a line; a field missing from a row has none.
    if (rule !== 'required' || (line === undefined && parameter === '')) continue
    flags.add('--columns')
    if (name === 'id') flags.add('--id-start')
  }
  return flags.size === 0 ? '' : ` See ${[...flags].join(' and ')}.`
}

/** Whether there was no connection, so nothing was sent. */
export function isUnreachable(error: unknown): boolean {
  const codes = ['ECONNREFUSED', ...DNS_CODES, ...NO_TLS_CODES, ...UNTRUSTED_CODES]
  return causesOf(error).some(({ code }) => codes.includes(code ?? ''))
}

function connectionFailureText(error: RequestError, url: string): string {
  const causes = causesOf(error)
  const isCode = (...codes: string[]) => causes.some(({ code }) => codes.includes(code ?? ''))
  if (isCode('ECONNREFUSED')) {
    return `Cannot connect to ${url}: nothing listens there. Start the service, or set its URL with --url or PLANTSTORE_URL.`
  }
  if (isCode(...DNS_CODES)) {
    return `Cannot resolve the host name ${new URL(url).hostname}. Check --url or PLANTSTORE_URL.`
  }
  if (isCode(...NO_TLS_CODES)) {
    return `The server at ${url} does not speak HTTPS. Try ${url.replace(/^https:/i, 'http:')}`
  }
  if (isCode(...UNTRUSTED_CODES)) {
    return `The certificate of ${url} is not trusted. Set NODE_EXTRA_CA_CERTS to its file, or to that of its issuer.`
  }
  const isPlain = new URL(url).protocol === 'http:'
  if (isPlain && isCode('UND_ERR_SOCKET') && causes.some(({ socket }) => socket?.bytesRead === 0)) {
    return `The server at ${url} closes the connection without a response. If it speaks HTTPS, try ${url.replace(/^http:/i, 'https:')}`
  }
  return sentences(printable(error.message))
}

/** An error of a connection. For a lost one, Node's fetch reports the bytes it received. */
interface ConnectionCause extends NodeJS.ErrnoException {
  socket?: { bytesRead: number }
}

/** An error and its causes. A host with several addresses has an error for each. */
function causesOf(error: unknown): ConnectionCause[] {
  if (!(error instanceof Error)) return []
  const others = error instanceof AggregateError ? error.errors : []
  return [error, ...causesOf(error.cause), ...others.flatMap(causesOf)]
}
