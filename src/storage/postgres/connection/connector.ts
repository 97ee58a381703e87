import { connect as connectSocket, isIP, type Socket } from 'node:net'
import { Duplex } from 'node:stream'
import { connect as connectTls, type TLSSocket } from 'node:tls'
import type { PostgresHost, PostgresTarget, PostgresTls } from './url.ts'

/** The packet that asks a server for TLS (postgresql.org/docs/current/protocol-message-formats.html). */
const SSL_REQUEST = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47])
const YES = 'S'.charCodeAt(0)

/** The message that ends the start of a session. */
const READY_FOR_QUERY = 'Z'.charCodeAt(0)
/** What a standby, or a database closed to writes, reports of itself in that start (PostgreSQL 14 and later). */
const READ_ONLY = /(?:in_hot_standby|default_transaction_read_only)\0on\0/

/** Opens connections to the primary among the hosts of a target. */
export interface Connector {
  /**
   * Never rejects: what is given breaks off with an error where no host can be reached, and with code STANDBY where it
   * leads to a standby.
   */
  connect(): Promise<Duplex>
}

/**
 * The driver knows several hosts and TLS as well, but takes a standby for writable, and tries hosts that are
 * down without a pause. Here the host that worked last comes first.
 */
export function createConnector({ hosts, tls }: PostgresTarget, timeoutMs: number): Connector {
  let preferred = 0

  /** No longer to this host first, if it still was. */
  function moveOn(from: number): void {
    if (preferred === from) preferred = (from + 1) % hosts.length
  }

  return {
    async connect() {
      const first = preferred
      let failure: unknown
      for (let step = 0; step < hosts.length; step++) {
        const at = (first + step) % hosts.length
        try {
          const socket = await open(hosts[at] as PostgresHost, tls, timeoutMs)
          refuseStandby(socket, () => moveOn(at))
          return socket
        } catch (error) {
          failure = error
          moveOn(at)
        }
      }
      return brokenOff(failure as Error)
    },
  }
}

/**
 * A connection that breaks off once somebody can listen. To the driver one that it never got is under way for ever:
 * when each of its connections has failed once, what is sent waits for one of them.
 */
function brokenOff(failure: Error): Duplex {
  const connection = new Duplex({ read() {}, write() {} })
  setImmediate(() => connection.destroy(failure))
  return connection
}

async function open(at: PostgresHost, tls: PostgresTls, timeoutMs: number): Promise<Socket> {
  const { host, port } = at
  const isFolder = host.startsWith('/')
  const plain = connectSocket(isFolder ? { path: `${host}/.s.PGSQL.${port}` } : { host, port })
  const timer = setTimeout(
    () => plain.destroy(failure('CONNECT_TIMEOUT', 'did not answer in time')),
    timeoutMs,
  )
  try {
    await once(plain, 'connect')
    plain.setNoDelay(true)
    if (isFolder || tls.mode === 'disable') return plain
    plain.write(SSL_REQUEST)
    const [answer] = (await once(plain, 'data')) as [Buffer]
    // More than the one byte would be somebody's in between, sent before the encryption begins.
    if (answer.length !== 1) throw failure('TLS_REFUSED', 'answered what is not PostgreSQL')
    if (answer[0] === YES) return await encrypted(plain, host, tls)
    if (tls.mode === 'prefer') return plain
    throw failure('TLS_REFUSED', 'offers no TLS, which the sslmode asks for')
  } catch (error) {
    plain.destroy()
    throw error
  } finally {
    clearTimeout(timer)
  }
}

async function encrypted(socket: Socket, host: string, { mode, ...files }: PostgresTls): Promise<TLSSocket> {
  const secure = connectTls({
    socket,
    host,
    ...(isIP(host) === 0 && { servername: host }),
    ...files,
    rejectUnauthorized: mode === 'verify-ca' || mode === 'verify-full',
    ...(mode === 'verify-ca' && { checkServerIdentity: () => undefined }),
  })
  await once(secure, 'secureConnect')
  return secure
}

/** Waits for an event; an error or the end of the connection comes first where it does. */
function once(socket: Socket, event: string): Promise<unknown[]> {
  return new Promise((resolve, reject) => {
    const onClose = () => reject(failure('ECONNRESET', 'closed the connection'))
    const onEvent = (...values: unknown[]) => {
      socket.off('error', reject).off('close', onClose)
      resolve(values)
    }
    socket.once(event, onEvent).once('error', reject).once('close', onClose)
  })
}

/** Breaks off with an error when the start of the session says that nothing can be written here. */
function refuseStandby(socket: Socket, onStandby: () => void): void {
  let start = Buffer.alloc(0)
  function look(piece: Buffer): void {
    start = Buffer.concat([start, piece])
    let at = 0
    while (start.length >= at + 5 && start.length >= at + 1 + start.readUInt32BE(at + 1)) {
      if (start[at] === READY_FOR_QUERY) {
        socket.off('data', look)
        if (READ_ONLY.test(start.toString('latin1', 0, at))) {
          onStandby()
          socket.destroy(failure('STANDBY', 'is a standby, which stores nothing'))
        }
        return
      }
      at += 1 + start.readUInt32BE(at + 1)
    }
  }
  socket.on('data', look)
}

function failure(code: string, reason: string): Error {
  return Object.assign(new Error(`The server ${reason}`), { code })
}
