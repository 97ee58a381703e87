import { connect as connectSocket, isIP, type Socket } from 'node:net'
import { Duplex } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect as connectTls, type TLSSocket } from 'node:tls'
import type { PostgresHost, PostgresTarget, PostgresTls } from './url.ts'

/** The packet that asks a server for TLS (postgresql.org/docs/current/protocol-message-formats.html). */
const SSL_REQUEST = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47])
const YES = 'S'.charCodeAt(0)

/** The message that ends the start of a session. */
const READY_FOR_QUERY = 'Z'.charCodeAt(0)
/** What a standby, or a database closed to writes, reports of itself in that start (PostgreSQL 14 and later). */
const READ_ONLY = /(?:in_hot_standby|default_transaction_read_only)\0on\0/

/** The pause after a session that could not be started. It doubles up to the second, the longest. */
const RECONNECT_PAUSE_MS = 20
const RECONNECT_PAUSE_MAX_MS = 250

/** Opens connections to the primary among the hosts of a target. */
export interface Connector {
  /**
   * Never rejects: the connection breaks with an error where no host can be reached, and with code STANDBY where it
   * leads to a standby. Waits first when the last session could not be started.
   */
  connect(): Promise<Duplex>
}

/**
 * The driver knows several hosts and TLS as well, but takes a standby for writable, and tries hosts that are
 * down without a pause. Here the host that worked last comes first.
 */
export function createConnector({ hosts, tls }: PostgresTarget, timeoutMs: number): Connector {
  let preferred = 0
  /** Sessions in a row that could not be started. */
  let failures = 0
  let pausesUntilMs = 0

  function fail(): void {
    const pauseMs = Math.min(RECONNECT_PAUSE_MS * 2 ** failures, RECONNECT_PAUSE_MAX_MS)
    failures++
    pausesUntilMs = performance.now() + pauseMs
  }

  /** No longer to this host first, if it still was. */
  function moveOn(from: number): void {
    if (preferred === from) preferred = (from + 1) % hosts.length
  }

  return {
    async connect() {
      await sleep(Math.max(0, pausesUntilMs - performance.now()))
      const first = preferred
      let failure: unknown
      for (let step = 0; step < hosts.length; step++) {
        const at = (first + step) % hosts.length
        try {
          const socket = await open(hosts[at] as PostgresHost, tls, timeoutMs)
          watchStart(socket, {
            onReady() {
              failures = 0
            },
            onStandby: () => moveOn(at),
            onFailure: fail,
          })
          return socket
        } catch (error) {
          failure = error
          moveOn(at)
        }
      }
      fail()
      return broken(failure as Error)
    },
  }
}

/**
 * A connection that breaks at its first write. The driver waits for ever for a connection that it does not get, and one
 * that breaks before that write leaves it in the buffer, in front of what the next connection sends.
 */
function broken(failure: Error): Duplex {
  return new Duplex({
    read() {},
    write(_chunk, _encoding, callback) {
      callback(failure)
    },
  })
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

interface StartEvents {
  onReady(): void
  onStandby(): void
  /** The connection was closed before the session had started. */
  onFailure(): void
}

/** Watches the start of a session, and breaks the connection when the server is one that stores nothing. */
function watchStart(socket: Socket, { onReady, onStandby, onFailure }: StartEvents): void {
  let start = Buffer.alloc(0)
  function look(chunk: Buffer): void {
    start = Buffer.concat([start, chunk])
    let at = 0
    while (start.length >= at + 5 && start.length >= at + 1 + start.readUInt32BE(at + 1)) {
      if (start[at] === READY_FOR_QUERY) {
        socket.off('data', look).off('close', onFailure)
        if (READ_ONLY.test(start.toString('latin1', 0, at))) {
          onStandby()
          socket.destroy(failure('STANDBY', 'is a standby, which stores nothing'))
        } else onReady()
        return
      }
      at += 1 + start.readUInt32BE(at + 1)
    }
  }
  socket.on('data', look).once('close', onFailure)
}

function failure(code: string, reason: string): Error {
  return Object.assign(new Error(`The server ${reason}`), { code })
}
