import { randomBytes } from 'node:crypto'
import type { BigIntStats } from 'node:fs'
import { chmod, lstat, rename, unlink } from 'node:fs/promises'
import { type AddressInfo, connect } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { SetupError } from '../../errors.ts'

/** The service's user and group have access: put a proxy into the group. */
const SOCKET_MODE = 0o660

/** Random bytes in the temporary name of a new socket; enough for the millisecond that it exists. */
const TEMPORARY_NAME_BYTES = 3
/** A dot, and the bytes in base64. */
const TEMPORARY_NAME_CHARACTERS = 1 + (TEMPORARY_NAME_BYTES * 4) / 3

/**
 * Limit on a socket's path: `sun_path` in unix(7) of Linux, and of macOS and the BSDs, without the zero at its end and
 * the suffix of the temporary name.
 */
const SOCKET_PATH_BYTES_MAX = (process.platform === 'linux' ? 107 : 103) - TEMPORARY_NAME_CHARACTERS

export interface ListenOptions {
  host: string
  port: number
  /** A Unix socket to listen on instead of a port. */
  socket?: string | undefined
  /** Whether the service speaks TLS. */
  isSecure: boolean
}

export interface Listening {
  /** The origin of the service; on a Unix socket, one that requests may use. */
  origin: string
  /** Stops accepting connections, and fulfils when the app has closed. */
  close(): Promise<void>
}

/** Starts to listen. Throws a SetupError with the reason if that fails; then nothing listens. */
export async function listen(app: FastifyInstance, options: ListenOptions): Promise<Listening> {
  const { host, port, socket, isSecure } = options
  if (socket !== undefined) {
    const own = await listenOnSocket(app, socket)
    return {
      origin: 'http://localhost',
      async close() {
        // While the socket is open no other file has its inode. If removing it fails, the next start replaces it.
        await removeOwn(socket, own).catch(() => undefined)
        await app.close()
      },
    }
  }
  try {
    await app.listen({ host, port })
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'EADDRINUSE')
      throw new SetupError(`Port ${port} on ${host} is in use. Choose another with --port.`)
    if (code === 'EACCES')
      throw new SetupError(
        `Permission to use port ${port} on ${host} was denied. Choose another with --port.`,
      )
    if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') {
      throw new SetupError(`${host} is not an address of this machine. Choose another with --host.`)
    }
    throw new SetupError(`Cannot listen on ${host}:${port}: ${message}`)
  }
  const address = app.server.address() as AddressInfo
  return {
    origin: `${isSecure ? 'https' : 'http'}://${hostInUrl(host)}:${address.port}`,
    close: () => app.close(),
  }
}

/** Returns the file of the socket. */
async function listenOnSocket(app: FastifyInstance, path: string): Promise<BigIntStats> {
  const bytes = Buffer.byteLength(path)
  if (bytes > SOCKET_PATH_BYTES_MAX) {
    throw new SetupError(
      `The path of the socket has ${bytes} bytes; the limit is ${SOCKET_PATH_BYTES_MAX}. Choose a shorter path.`,
    )
  }
  const cannot = (reason: string) => new SetupError(`Cannot listen on the socket ${path}: ${reason}`)
  // On close Node removes the path that it listened on, even if another process has replaced the file there.
  const temporary = `${path}.${randomBytes(TEMPORARY_NAME_BYTES).toString('base64url')}`
  try {
    await rejectOtherFile(path)
    await app.listen({ path: temporary })
    try {
      await chmod(temporary, SOCKET_MODE)
      const own = await lstat(temporary, { bigint: true })
      await rename(temporary, path)
      return own
    } catch (error) {
      // Otherwise it would go on listening, and the process could not exit.
      await app.close()
      throw error
    }
  } catch (error) {
    if (error instanceof SetupError) throw error
    const { code, message } = error as NodeJS.ErrnoException
    // Node reports EACCES for a bind in a missing folder.
    if (code === 'EACCES' || code === 'EPERM')
      throw cannot('permission denied, or its folder does not exist. Create the folder first.')
    if (code === 'ENOENT' || code === 'ENOTDIR') throw cannot('its folder does not exist. Create it first.')
    throw cannot(message)
  }
}

/**
 * Throws a SetupError if the path has a file that must not be replaced. A socket without a listener may be replaced: a
 * process that crashed left it there.
 */
async function rejectOtherFile(path: string): Promise<void> {
  const found = await lstatOf(path)
  if (found === undefined) return
  if (!found.isSocket()) {
    throw new SetupError(
      `Cannot listen on the socket ${path}: the file exists and is not a socket. Remove it, or choose another path.`,
    )
  }
  if (await isListenedOn(path)) {
    throw new SetupError(`Cannot listen on the socket ${path}: another process already listens on it.`)
  }
}

/** Removes the file at the path, unless another process has replaced it. */
async function removeOwn(path: string, own: BigIntStats): Promise<void> {
  const found = await lstatOf(path)
  if (found?.dev === own.dev && found.ino === own.ino) await unlink(path)
}

/** The file at the path; undefined if there is none. */
async function lstatOf(path: string): Promise<BigIntStats | undefined> {
  try {
    return await lstat(path, { bigint: true })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/** Whether a process listens on the socket. Rejects if that cannot be determined. */
function isListenedOn(path: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const probe = connect(path)
    probe.once('connect', () => {
      probe.destroy()
      resolve(true)
    })
    probe.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNREFUSED' || error.code === 'ENOENT') resolve(false)
      // A process listens, and its backlog is full.
      else if (error.code === 'EAGAIN') resolve(true)
      else reject(error)
    })
  })
}

/** An address for a URL: IPv6 in brackets, and loopback for an address that means every address. */
function hostInUrl(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1'
  if (host === '::') return '[::1]'
  return host.includes(':') ? `[${host}]` : host
}
