import { randomBytes } from 'node:crypto'
import type { BigIntStats } from 'node:fs'
import { chmod, lstat, rename, unlink } from 'node:fs/promises'
import { type AddressInfo, connect } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { SetupError } from '../../errors.ts'

/** The service's user and group may talk to it: a proxy is put into the group. */
const SOCKET_MODE = 0o660

/** Random bytes in the name under which a socket is made; nobody else makes one there within the same millisecond. */
const MADE_NAME_BYTES = 3
/** A dot, and the bytes in base64. */
const MADE_NAME_CHARACTERS = 1 + (MADE_NAME_BYTES * 4) / 3

/**
 * What a socket's path may have, less the zero at its end (sun_path in unix(7), and in that of macOS and the BSDs), and
 * less what is behind it while it is made.
 */
const SOCKET_PATH_BYTES_MAX = (process.platform === 'linux' ? 107 : 103) - MADE_NAME_CHARACTERS

export interface Place {
  host: string
  port: number
  /** A Unix socket; no port is opened then. */
  socket?: string | undefined
  /** Whether the service speaks TLS. */
  isSecure: boolean
}

export interface Listening {
  /** Where the service can be reached; on a socket, what a request to it may name. */
  origin: string
  /** Takes no more connections, and fulfils when the app has closed. */
  close(): Promise<void>
}

/** Begins to listen. Throws a SetupError that says why it cannot; nothing listens then. */
export async function listen(app: FastifyInstance, place: Place): Promise<Listening> {
  const { host, port, socket, isSecure } = place
  if (socket !== undefined) {
    const own = await listenOnSocket(app, socket)
    return {
      origin: 'http://localhost',
      async close() {
        // While it is listened on no other file gets its number. One that stays is taken over by the next start.
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
      throw new SetupError(`Port ${port} on ${host} is in use: choose another with --port.`)
    if (code === 'EACCES') throw new SetupError(`Port ${port} on ${host} may not be used: permission denied.`)
    if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') {
      throw new SetupError(`${host} is no address of this machine: choose another with --host.`)
    }
    throw new SetupError(`Cannot listen on ${host}:${port}: ${message}`)
  }
  const address = app.server.address() as AddressInfo
  return {
    origin: `${isSecure ? 'https' : 'http'}://${hostInUrl(host)}:${address.port}`,
    close: () => app.close(),
  }
}

/** Gives what is at the path then. */
async function listenOnSocket(app: FastifyInstance, path: string): Promise<BigIntStats> {
  const bytes = Buffer.byteLength(path)
  if (bytes > SOCKET_PATH_BYTES_MAX) {
    throw new SetupError(
      `The path of the socket is ${bytes} bytes long and may be ${SOCKET_PATH_BYTES_MAX}: choose a shorter one.`,
    )
  }
  const cannot = (reason: string) => new SetupError(`Cannot listen on the socket ${path}: ${reason}`)
  // Node removes at the end whatever is at the path that it was given, also what another process put there.
  const made = `${path}.${randomBytes(MADE_NAME_BYTES).toString('base64url')}`
  try {
    await refuseOthers(path)
    await app.listen({ path: made })
    try {
      await chmod(made, SOCKET_MODE)
      const own = await lstat(made, { bigint: true })
      await rename(made, path)
      return own
    } catch (error) {
      // Else it would go on listening, and the process that could not start would not end.
      await app.close()
      throw error
    }
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

/**
 * Throws a SetupError where something is at the path that stays: not so a socket that nobody listens on, which a
 * process leaves behind that crashed.
 */
async function refuseOthers(path: string): Promise<void> {
  const found = await lstatOf(path)
  if (found === undefined) return
  if (!found.isSocket()) {
    throw new SetupError(`Cannot listen on the socket ${path}: something else is there, which stays.`)
  }
  if (await isListenedOn(path)) {
    throw new SetupError(`Cannot listen on the socket ${path}: another process does already.`)
  }
}

/** Removes what is at the path, unless another process put it there. */
async function removeOwn(path: string, own: BigIntStats): Promise<void> {
  const found = await lstatOf(path)
  if (found?.dev === own.dev && found.ino === own.ino) await unlink(path)
}

/** What is at the path, undefined for nothing. */
async function lstatOf(path: string): Promise<BigIntStats | undefined> {
  try {
    return await lstat(path, { bigint: true })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
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
