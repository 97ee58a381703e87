import { chmod, lstat, unlink } from 'node:fs/promises'
import { type AddressInfo, connect } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { SetupError } from './errors.ts'

/** The service's user and group may talk to it: a proxy is put into the group. */
const SOCKET_MODE = 0o660

/** What a socket's path may have, less the zero at its end (sun_path in unix(7), and in that of macOS and the BSDs). */
const SOCKET_PATH_BYTES_MAX = process.platform === 'linux' ? 107 : 103

export interface Place {
  host: string
  port: number
  /** A Unix socket; no port is opened then. */
  socket?: string | undefined
  /** Whether the service speaks TLS. */
  isSecure: boolean
}

/**
 * Begins to listen, and gives the origin where the service can be reached; on a socket, what a request to it may name.
 * Throws a SetupError that says why it cannot; nothing listens then.
 */
export async function listen(app: FastifyInstance, place: Place): Promise<string> {
  const { host, port, socket, isSecure } = place
  if (socket !== undefined) {
    await listenOnSocket(app, socket)
    return 'http://localhost'
  }
  try {
    await app.listen({ host, port })
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'EADDRINUSE')
      throw new SetupError(`Port ${port} on ${host} is in use: choose another with --port.`)
    if (code === 'EACCES') throw new SetupError(`Port ${port} on ${host} may not be used: permission denied.`)
    if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') {
      throw new SetupError(`${host} is no address of this machine: choose another with --host.`)
    }
    throw new SetupError(`Cannot listen on ${host}:${port}: ${message}`)
  }
  const address = app.server.address() as AddressInfo
  return `${isSecure ? 'https' : 'http'}://${hostInUrl(host)}:${address.port}`
}

async function listenOnSocket(app: FastifyInstance, path: string): Promise<void> {
  const bytes = Buffer.byteLength(path)
  if (bytes > SOCKET_PATH_BYTES_MAX) {
    throw new SetupError(
      `The path of the socket is ${bytes} bytes long and may be ${SOCKET_PATH_BYTES_MAX}: choose a shorter one.`,
    )
  }
  const cannot = (reason: string) => new SetupError(`Cannot listen on the socket ${path}: ${reason}`)
  try {
    await removeStaleSocket(path)
    // Node removes it when the server closes.
    await app.listen({ path })
    await chmod(path, SOCKET_MODE).catch(async (error: unknown) => {
      // Else it would go on listening, and the process that could not start would not end.
      await app.close()
      throw error
    })
  } catch (error) {
    if (error instanceof SetupError) throw error
    const { code, message } = error as NodeJS.ErrnoException
    // What the system says of a bind in a folder that is not there is EACCES to Node.
    if (code === 'EACCES' || code === 'EPERM')
      throw cannot('permission denied, or the folder is not there: make it first.')
    if (code === 'ENOENT' || code === 'ENOTDIR') throw cannot('its folder is not there: make it first.')
    throw cannot(message)
  }
}

/** A process that crashed leaves its socket behind, and nobody can listen where one is. */
async function removeStaleSocket(path: string): Promise<void> {
  const found = await lstat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
  if (found === undefined) return
  if (!found.isSocket()) {
    throw new SetupError(`Cannot listen on the socket ${path}: something else is there, which stays.`)
  }
  if (await isListenedOn(path)) {
    throw new SetupError(`Cannot listen on the socket ${path}: another process does already.`)
  }
  await unlink(path)
}

/** Whether somebody listens there. Rejects where that cannot be known. */
function isListenedOn(path: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const probe = connect(path)
    probe.once('connect', () => {
      probe.destroy()
      resolve(true)
    })
    probe.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNREFUSED' || error.code === 'ENOENT') resolve(false)
      // It listens, and has too many to take up.
      else if (error.code === 'EAGAIN') resolve(true)
      else reject(error)
    })
  })
}

/**
 * An address as a URL has it: IPv6 in brackets, and one that means every address as one that can be called.
 */
function hostInUrl(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1'
  if (host === '::') return '[::1]'
  return host.includes(':') ? `[${host}]` : host
}
