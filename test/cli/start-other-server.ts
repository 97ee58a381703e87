import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Lifetime } from '../support/http/start-app.ts'

/** A server that responds as the service never does, or not at all. At the end it drops all connections. */
export async function startOtherServer(
  test: Lifetime,
  listener: RequestListener,
): Promise<{ url: string; server: Server }> {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  test.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server }
}
