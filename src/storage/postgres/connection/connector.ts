import { connect as connectSocket, isIP, type Socket } from 'node:net'
import { Duplex } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect as connectTls, type TLSSocket } from 'node:tls'
import type { PostgresHost, PostgresTarget, PostgresTls } from './url.ts'

/** The SSLRequest message (postgresql.org/docs/current/protocol-message-formats.html). */
const SSL_REQUEST = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47])
const SSL_ACCEPTED = 'S'.charCodeAt(0)

/** The message that completes the startup of a session. */
const READY_FOR_QUERY = 'Z'.charCodeAt(0)
/** The parameters that a standby or a read-only database reports during startup (PostgreSQL 14 and later). */
const READ_ONLY = /(?:in_hot_standby|default_transaction_read_only)\0on\0/

/** The pause after a failed startup of a session. It doubles up to the maximum. */
const RECONNECT_PAUSE_MS = 20
const RECONNECT_PAUSE_MAX_MS = 250

/** Opens connections to the primary among the hosts of a target. */
export interface Connector {
  /**
   * Never rejects: the connection fails with an error if no host can be reached, with code STANDBY if it leads to a
   * standby. Pauses first if the startup of the last session failed.
   */
  connect(): Promise<Duplex>
}

/**
 * Connects to several hosts, the last working one first. The driver's own support treats a standby as writable and
 * retries hosts that are down without a pause.
 */
export function createConnector({ hosts, tls }: PostgresTarget, timeoutMs: number): Connector {
  let preferred = 0
  /** Failed startups in a row. */
  let failures = 0
  let pausesUntilMs = 0

  function fail(): void {
    const pauseMs = Math.min(RECONNECT_PAUSE_MS * 2 ** failures, RECONNECT_PAUSE_MAX_MS)
    failures++
    pausesUntilMs = performance.now() + pauseMs
  }

  /** Prefers the next host, unless that has happened already. */
  function preferNext(from: number): void {
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
            onStandby: () => preferNext(at),
            onFailure: fail,
          })
          return socket
        } catch (error) {
          failure = error
          preferNext(at)
        }
      }
      fail()
      return broken(failure as Error)
    },
  }
}

/**
 * A connection that fails at its first write. The driver would wait for ever for a connection that is rejected. If it
 * failed before that write, the driver would leave the write in its buffer and send it first on the next connection.
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
    () => plain.destroy(failure('CONNECT_TIMEOUT', 'did not respond in time')),
    timeoutMs,
  )
  try {
    await once(plain, 'connect')
    plain.setNoDelay(true)
    if (isFolder || tls.mode === 'disable') return plain
    plain.write(SSL_REQUEST)
    const [response] = (await once(plain, 'data')) as [Buffer]
    // More than one byte may be injected: an attacker in between could send it before the encryption starts.
    if (response.length !== 1) throw failure('TLS_UNAVAILABLE', 'does not speak the PostgreSQL protocol')
    if (response[0] === SSL_ACCEPTED) return await encrypted(plain, host, tls)
    if (tls.mode === 'prefer') return plain
    throw failure('TLS_UNAVAILABLE', 'does not support TLS, which the sslmode requires')
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

/** Waits for an event. Rejects if an error or the end of the connection comes first. */
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
  /** The connection was closed during startup. */
  onFailure(): void
}

/** Watches the startup of a session, and closes the connection if the server is read-only. */
function watchStart(socket: Socket, { onReady, onStandby, onFailure }: StartEvents): void {
  let received = Buffer.alloc(0)
  function onData(chunk: Buffer): void {
    received = Buffer.concat([received, chunk])
    let at = 0
    while (received.length >= at + 5 && received.length >= at + 1 + received.readUInt32BE(at + 1)) {
      if (received[at] === READY_FOR_QUERY) {
        socket.off('data', onData).off('close', onFailure)
        if (READ_ONLY.test(received.toString('latin1', 0, at))) {
          onStandby()
          socket.destroy(failure('STANDBY', 'is a read-only standby'))
        } else onReady()
        return
      }
      at += 1 + received.readUInt32BE(at + 1)
    }
  }
  socket.on('data', onData).once('close', onFailure)
}

function failure(code: string, reason: string): Error {
  return Object.assign(new Error(`The server ${reason}`), { code })
}
