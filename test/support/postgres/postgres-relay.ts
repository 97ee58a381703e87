import type { Socket } from 'node:net'
import {
  BIND,
  errorResponse,
  messageLength,
  PARSE,
  purposeOf,
  QUERY,
  READY_FOR_QUERY,
  ROLLBACK_MESSAGE,
  SYNC,
  SYNC_MESSAGE,
  stringsIn,
  typeOf,
  withFailedTransaction,
} from './postgres-messages.ts'

/** Messages that wait for later ones: up to a Sync, a Flush or a Query they are one batch. */
const NOT_THE_LAST = ['P', 'B', 'D', 'E', 'C']
/** What a batch has that asks the server for something; without one it is a password, data or a goodbye. */
const ASKS = [...NOT_THE_LAST, QUERY]

/** A transaction is over when its commit has failed; after another failure it waits for a rollback. */
const COMMIT = /^\s*(commit|end)\b/i

/**
 * What the server owes the client for a batch, up to its ReadyForQuery: its response; or the client has been sent
 * an error, and gets only the end of the response.
 */
type Owed = 'response' | 'end' | 'end of rollback'

/** An error that a batch gets. */
export interface BatchError {
  sqlstate: string
  isFatal: boolean
}

/** Decides what happens to the messages on a connection. */
export interface Orders {
  /** The SQLSTATE that the connection is rejected with, or undefined. */
  startupErrorFor(): string | undefined
  /** The error that a batch gets, or undefined. `text` has the SQL of the statements it uses. */
  errorFor(text: Buffer): BatchError | undefined
  /** A batch is about to be forwarded. */
  onBatch(relay: Relay, text: Buffer): void
  /** How many of these bytes may pass before the connection ends; undefined when nothing ends it. */
  bytesBeforeCut(relay: Relay, direction: Direction, length: number): number | undefined
}

export type Direction = 'client' | 'server'

/** A connection that is forwarded. */
export interface Relay {
  destroy(): void
  stall(): void
  resume(): void
}

/** Forwards messages between a client and a server that are being connected, except as `orders` say. */
export function relay(client: Socket, server: Socket, orders: Orders): Relay {
  let phase: 'startup' | 'encryption' | 'messages' | 'opaque' = 'startup'
  let isOver = false
  let fromClient: Buffer = Buffer.alloc(0)
  let fromServer: Buffer = Buffer.alloc(0)
  let batch: Buffer[] = []
  /** The SQL of each prepared statement: a Bind has only the name. */
  const statements = new Map<string, string>()
  /** An entry for each ReadyForQuery that is to come. */
  const owed: Owed[] = []
  /** Set when the client got a response with an error, and all until its Sync is for nobody: what the Sync gives. */
  let skipping: Exclude<Owed, 'response'> | undefined
  /** Sends an error once the server has responded to the batches before it. */
  let waiting: (() => void) | undefined

  function pass(direction: Direction, bytes: Buffer): void {
    if (isOver) return
    const [to, other] = direction === 'client' ? [server, client] : [client, server]
    const limit = orders.bytesBeforeCut(connection, direction, bytes.length)
    to.write(limit === undefined ? bytes : bytes.subarray(0, limit))
    if (limit !== undefined) endBy(to, other)
  }

  /** Ends the connection, but lets `to` have what was written to it. */
  function endBy(to: Socket, other: Socket): void {
    isOver = true
    to.destroySoon()
    other.destroy()
  }

  function open(packet: Buffer): void {
    const purpose = purposeOf(packet)
    const sqlstate = purpose === 'startup' ? orders.startupErrorFor() : undefined
    if (sqlstate !== undefined) {
      client.write(errorResponse('FATAL', sqlstate))
      endBy(client, server)
      return
    }
    if (purpose === 'startup') owed.push('response')
    phase = purpose === 'startup' ? 'messages' : purpose === 'cancel' ? 'opaque' : 'encryption'
    pass('client', packet)
  }

  /** The SQL that a message brings or uses. */
  function sqlOf(message: Buffer): string | undefined {
    const type = typeOf(message)
    const [first = '', second = ''] = stringsIn(message, 2)
    if (type === PARSE) statements.set(first, second)
    if (type === QUERY) return first
    return type === PARSE ? second : type === BIND ? statements.get(second) : undefined
  }

  function sendError({ sqlstate, isFatal }: BatchError, last: string, sqls: string[]): void {
    client.write(errorResponse(isFatal ? 'FATAL' : 'ERROR', sqlstate))
    if (isFatal) {
      endBy(client, server)
      return
    }
    skipping = sqls.some((sql) => COMMIT.test(sql)) ? 'end of rollback' : 'end'
    if (last === QUERY || last === SYNC) finishSkipping(skipping)
  }

  /** Has the server say whether a transaction is open, after it ended the one whose commit failed. */
  function finishSkipping(kind: Exclude<Owed, 'response'>): void {
    skipping = undefined
    owed.push(kind)
    pass('client', kind === 'end' ? SYNC_MESSAGE : ROLLBACK_MESSAGE)
  }

  function decide(messages: Buffer[], last: string): void {
    if (skipping !== undefined) {
      if (last === SYNC) finishSkipping(skipping)
      return
    }
    const isAsking = messages.some((message) => ASKS.includes(typeOf(message)))
    const sqls = messages.map(sqlOf).filter((sql) => sql !== undefined)
    const text = Buffer.concat([...messages, ...sqls.map((sql) => Buffer.from(sql))])
    const error = isAsking ? orders.errorFor(text) : undefined
    if (error !== undefined) {
      if (owed.length === 0) sendError(error, last, sqls)
      else waiting = () => sendError(error, last, sqls)
      return
    }
    if (last === SYNC || last === QUERY) owed.push('response')
    if (isAsking) orders.onBatch(connection, text)
    pass('client', Buffer.concat(messages))
  }

  function readClient(): void {
    while (!isOver && waiting === undefined && phase !== 'encryption') {
      const length = phase === 'opaque' ? fromClient.length : messageLength(fromClient, phase === 'messages')
      if (!length) return
      const message = fromClient.subarray(0, length)
      fromClient = fromClient.subarray(length)
      if (phase === 'startup') open(message)
      else if (phase === 'opaque') pass('client', message)
      else {
        batch.push(message)
        const type = typeOf(message)
        if (NOT_THE_LAST.includes(type)) continue
        const whole = batch
        batch = []
        decide(whole, type)
      }
    }
  }

  function readServer(): void {
    while (!isOver) {
      const isWhole = phase === 'opaque' || phase === 'encryption'
      const length = isWhole ? fromServer.length : messageLength(fromServer, true)
      if (!length) return
      const message = fromServer.subarray(0, length)
      fromServer = fromServer.subarray(length)
      // N: it has no encryption, and the client goes on without. All else is for the two of them alone.
      if (phase === 'encryption') phase = typeOf(message) === 'N' ? 'startup' : 'opaque'
      const isReady = phase === 'messages' && typeOf(message) === READY_FOR_QUERY
      const kind = isReady ? owed.shift() : owed[0]
      if (isReady && kind === 'end') pass('server', withFailedTransaction(message))
      else if (isReady || kind !== 'end of rollback') pass('server', message)
      if (isReady && owed.length === 0) {
        waiting?.()
        waiting = undefined
      }
      readClient()
    }
  }

  client.on('data', (chunk: Buffer) => {
    fromClient = Buffer.concat([fromClient, chunk])
    readClient()
  })
  server.on('data', (chunk: Buffer) => {
    fromServer = Buffer.concat([fromServer, chunk])
    readServer()
  })
  for (const [socket, other] of [
    [client, server],
    [server, client],
  ] as const) {
    // That it closed says enough: the other side is closed too, once it has what was written to it.
    socket.on('error', () => undefined)
    socket.on('close', () => other.destroySoon())
  }

  const connection: Relay = {
    destroy() {
      isOver = true
      client.destroy()
      server.destroy()
    },
    stall() {
      client.pause()
      server.pause()
    },
    resume() {
      client.resume()
      server.resume()
    },
  }
  return connection
}
