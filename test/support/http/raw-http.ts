import { connect } from 'node:net'

/**
 * What came back on a connection, as text (latin1: a character a byte), until the service closed it or time
 * was up.
 */
export interface RawResponse {
  text: string
  isClosed: boolean
}

/**
 * Sends bytes on a connection of its own and reads until the service closes it, or `waitMs` after the last
 * byte. Chunks are sent 20 ms apart. `end` closes the sending side after them.
 */
export function exchange(
  port: number,
  chunks: string | Buffer | (string | Buffer)[],
  { waitMs = 500, end = false }: { waitMs?: number; end?: boolean } = {},
): Promise<RawResponse> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
    let text = ''
    let timer: NodeJS.Timeout | undefined
    const finish = (isClosed: boolean) => {
      clearTimeout(timer)
      socket.destroy()
      resolve({ text, isClosed })
    }
    const wait = () => {
      clearTimeout(timer)
      timer = setTimeout(() => finish(false), waitMs)
    }
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1')
      wait()
    })
    socket.on('end', () => finish(true))
    socket.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNRESET' || error.code === 'EPIPE') finish(true)
      else reject(error)
    })
    socket.on('connect', async () => {
      for (const chunk of [chunks].flat()) {
        socket.write(chunk)
        await new Promise((next) => setTimeout(next, 20))
      }
      if (end) socket.end()
      wait()
    })
  })
}

/** The status codes of the responses in a text, in order. */
export function statusesIn({ text }: RawResponse): number[] {
  return [...text.matchAll(/^HTTP\/1\.1 (\d{3}) /gm)].map((match) => Number(match[1]))
}
