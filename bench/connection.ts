import { once } from 'node:events'
import { createConnection } from 'node:net'

interface Response {
  status: number
  body: string
}

/**
 * A kept-alive HTTP connection that costs its process next to nothing, so that the server is what is timed.
 */
export interface Connection {
  /** One request at a time. Rejects when the connection breaks. */
  request(method: 'GET' | 'POST', path: string, json?: string): Promise<Response>
  close(): void
}

/** Connects to a server that sends the length of its responses (it need not know chunks). */
export async function connect(url: string, token: string): Promise<Connection> {
  const { hostname, port, host } = new URL(url)
  const socket = createConnection({ host: hostname, port: Number(port), noDelay: true })
  await once(socket, 'connect')
  let received: Buffer = Buffer.alloc(0)
  let waiting: PromiseWithResolvers<Response> | undefined

  function fail(error: Error): void {
    waiting?.reject(error)
    waiting = undefined
  }
  socket.on('error', (error) => fail(new Error(`${url} broke the connection: ${error.message}`)))
  socket.on('close', () => fail(new Error(`${url} closed the connection`)))
  socket.on('data', (chunk: Buffer) => {
    received = received.length === 0 ? chunk : Buffer.concat([received, chunk])
    const headEnd = received.indexOf('\r\n\r\n')
    if (headEnd < 0) return
    const head = received.toString('latin1', 0, headEnd)
    const length = /\r\ncontent-length: (\d+)/i.exec(head)?.[1]
    if (length === undefined) {
      fail(new Error(`${url} did not send the length of a response: ${head}`))
      return
    }
    const end = headEnd + 4 + Number(length)
    if (received.length < end) return
    const response = { status: Number(head.slice(9, 12)), body: received.toString('utf8', headEnd + 4, end) }
    received = received.subarray(end)
    waiting?.resolve(response)
  })

  const fields = `Host: ${host}\r\nAuthorization: Bearer ${token}\r\n`
  return {
    request(method, path, json) {
      waiting = Promise.withResolvers<Response>()
      const body =
        json === undefined
          ? '\r\n'
          : `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(json)}\r\n\r\n${json}`
      socket.write(`${method} ${path} HTTP/1.1\r\n${fields}${body}`)
      return waiting.promise
    },
    close: () => socket.destroy(),
  }
}
