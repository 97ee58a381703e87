import { createServer } from 'node:net'
import { eventually } from './eventually.ts'

/**
 * Below the ports that systems give to clients: a client that looks for a server that is down could itself be
 * given the server's port, and would then be connected to itself.
 */
const FIRST_PORT = 20_000
const PORTS = 10_000

function isFree(port: number): Promise<boolean> {
  const server = createServer()
  return new Promise((resolve) => {
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
}

/** A port of 127.0.0.1 that nobody listens on, for a server that has to keep it while it is down. */
export function findFreePort(): Promise<number> {
  return eventually(async () => {
    const port = FIRST_PORT + Math.floor(Math.random() * PORTS)
    return (await isFree(port)) && port
  })
}
