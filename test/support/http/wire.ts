import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { connect as connectSecurely } from 'node:tls'
import { type Lifetime, TOKEN } from './start-app.ts'

/** A response as it came over a connection. */
export interface WireResponse {
  status: number
  /** By lower-case name; several fields of one name are joined by a comma. */
  headers: Record<string, string>
  body: string
}

/** A connection that is spoken to in bytes. */
export interface Wire {
  /** Sends text (latin1: a character a byte) or bytes as they are. */
  send(...chunks: (string | Buffer)[]): void
  /** The next response, an interim one (100) too; a HEAD request's has no body, whatever its length says. */
  response(method?: string): Promise<WireResponse>
  /** Asserts that the service closes the connection, having sent nothing more than was read. */
  assertClosed(): Promise<void>
  /** Asserts that the connection is in step and usable: a request on it gets its own response. */
  assertUsable(): Promise<void>
  /** Closes the sending side. */
  end(): void
  /** Whether the service has closed its side. */
  readonly isClosed: boolean
}

/** How long a test waits for what must come; far more than it takes. */
const PATIENCE_MS = 5_000

/**
 * Opens a connection to the service on that port, from another address of this machine (127.0.0.2) where one is
 * given, over TLS where it is secure; it goes when the test ends.
 */
export async function openWire(
  test: Lifetime,
  port: number,
  { from = '127.0.0.1', isSecure = false }: { from?: string; isSecure?: boolean } = {},
): Promise<Wire> {
  const place = { port, host: '127.0.0.1', localAddress: from, allowHalfOpen: true }
  const socket = isSecure ? connectSecurely(place) : connect(place)
  test.after(() => void socket.destroy())
  let received = ''
  let isClosed = false
  let wake = () => {}
  socket.on('data', (chunk) => {
    received += chunk.toString('latin1')
    wake()
  })
  for (const event of ['end', 'close'] as const) {
    socket.on(event, () => {
      isClosed = true
      wake()
    })
  }
  // A connection that was reset is a closed one.
  socket.on('error', () => {})
  await new Promise<void>((resolve, reject) =>
    socket.once(isSecure ? 'secureConnect' : 'connect', resolve).once('error', reject),
  )

  async function until<Result>(look: () => Result | undefined, what: string): Promise<Result> {
    const deadline = AbortSignal.timeout(PATIENCE_MS)
    for (;;) {
      const found = look()
      if (found !== undefined) return found
      if (deadline.aborted) throw new Error(`No ${what}. Received so far: ${JSON.stringify(received)}`)
      await new Promise<void>((resolve) => {
        wake = resolve
        deadline.onabort = () => resolve()
      })
    }
  }

  function takeResponse(method: string): WireResponse | undefined {
    const end = received.indexOf('\r\n\r\n')
    if (end < 0) {
      assert.ok(!isClosed, `The connection was closed before a response: ${JSON.stringify(received)}`)
      return undefined
    }
    const [statusLine = '', ...lines] = received.slice(0, end).split('\r\n')
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(statusLine)?.[1] ?? assert.fail(statusLine))
    const headers: Record<string, string> = {}
    for (const line of lines) {
      const [, name = '', value = ''] = /^([^:\s]+): ?(.*)$/.exec(line) ?? assert.fail(line)
      const key = name.toLowerCase()
      headers[key] = headers[key] === undefined ? value : `${headers[key]}, ${value}`
    }
    const hasBody = method !== 'HEAD' && status >= 200 && status !== 204 && status !== 304
    const length = hasBody ? Number(headers['content-length'] ?? assert.fail('no content-length')) : 0
    const start = end + 4
    if (received.length < start + length) return undefined
    const body = Buffer.from(received.slice(start, start + length), 'latin1').toString('utf8')
    received = received.slice(start + length)
    return { status, headers, body }
  }

  const wire: Wire = {
    send(...chunks) {
      for (const chunk of chunks) socket.write(chunk, 'latin1')
    },
    response: (method = 'GET') => until(() => takeResponse(method), 'whole response'),
    async assertClosed() {
      await until(() => isClosed || undefined, 'close')
      assert.equal(received, '', 'more than the responses that were read')
    },
    async assertUsable() {
      assert.equal(received, '')
      wire.send('GET /healthz HTTP/1.1\r\nHost: a\r\nX-Request-Id: still-usable\r\n\r\n')
      const { status, headers } = await wire.response()
      assert.equal(status, 200)
      assert.equal(headers['x-request-id'], 'still-usable')
    },
    end: () => void socket.end(),
    get isClosed() {
      return isClosed
    },
  }
  return wire
}

/**
 * The text of a request, to be sent as it is. `Host`, the token and what describes the body are added unless
 * `headers` has them; an empty value leaves a field out.
 */
export function requestText(line: string, headers: Record<string, string> = {}, body?: string): string {
  const fields: Record<string, string> = {
    Host: 'plants.test',
    Authorization: `Bearer ${TOKEN}`,
    ...(body !== undefined && {
      'Content-Type': 'application/json',
      'Content-Length': String(Buffer.byteLength(body)),
    }),
    ...headers,
  }
  const lines = Object.entries(fields).filter(([, value]) => value !== '')
  const bytes = Buffer.from(body ?? '').toString('latin1')
  return `${line} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${bytes}`
}
