import { connect, createServer, type Server, type Socket } from 'node:net'
import type { Lifetime } from '../http/start-app.ts'
import { type Direction, type Orders, type Relay, relay } from './postgres-relay.ts'

const HOST = '127.0.0.1'

/** Something that is to happen to what passes; `happened` says that it did. */
interface Order {
  /** What the bytes of a batch have to contain; of a prepared statement its SQL counts as well. */
  match: string | undefined
  happened(): void
}

interface ResponseOrder extends Order {
  sqlstate: string
  isFatal: boolean
}

interface CutOrder extends Order {
  direction: Direction
  bytesLeft: number
  /** The connection whose bytes are counted, once it is known. */
  on: Relay | undefined
}

export interface ResponseOptions {
  /** FATAL instead of ERROR, and the connection is closed, as by a server that shuts down (57P01). */
  fatal?: boolean
  /** Text in the batch that is meant, its SQL or what it sends with it; any batch otherwise. */
  match?: string
}

export interface CutOptions {
  /** Bytes count on the connection that sends a batch with this text, from this batch on. */
  match?: string
}

/**
 * A network and a server that fail on demand. A method with a promise fulfils it once the failure has happened, so
 * that a test can wait for it; each happens once, to the first connection and batch that it fits.
 */
export interface PostgresProxy {
  port: number
  /** How many connections are open. */
  readonly connections: number
  /** Destroys all connections. */
  cut(): void
  /** Closes new connections at once, until `accept`. */
  reject(): void
  accept(): void
  /** Holds all bytes back, of new connections too, until `resume`. */
  stall(): void
  resume(): void
  /** Lets new connections go to another port. */
  target(port: number): void
  /** Lets so many bytes of the server pass, then destroys the connection. 0: the next response is lost. */
  cutAfterServerBytes(count: number, options?: CutOptions): Promise<void>
  /**
   * Lets so many bytes of the client pass, then destroys the connection. 0: the next request is lost. Messages
   * that belong together are forwarded together, so bytes count only when the last of them is there.
   */
  cutAfterClientBytes(count: number, options?: CutOptions): Promise<void>
  /**
   * Responds to a batch with this SQLSTATE in place of the server, which never sees it. The connection stays usable;
   * a transaction gets a failure, and has to be rolled back, unless it was its commit that failed.
   */
  respondToNext(sqlstate: string, options?: ResponseOptions): Promise<void>
  /** Rejects a connection with this SQLSTATE when it is opened. */
  respondToNextStartup(sqlstate: string): Promise<void>
}

/** Takes the first that fits from a list. */
function take<Value>(list: Value[], fits: (value: Value) => boolean): Value | undefined {
  const index = list.findIndex(fits)
  return index < 0 ? undefined : list.splice(index, 1)[0]
}

const isIn = (text: Buffer, match: string | undefined) => match === undefined || text.includes(match)

/** What is to happen, in the order it was asked for. */
function startOrders() {
  const startups: ResponseOrder[] = []
  const responses: ResponseOrder[] = []
  const cuts: CutOrder[] = []
  const orders: Orders = {
    startupErrorFor() {
      const order = startups.shift()
      order?.happened()
      return order?.sqlstate
    },
    errorFor(text) {
      const order = take(responses, ({ match }) => isIn(text, match))
      order?.happened()
      return order
    },
    onBatch(connection, text) {
      const cut = cuts.find(({ on, match }) => !on && match !== undefined && isIn(text, match))
      if (cut) cut.on = connection
    },
    bytesBeforeCut(connection, direction, length) {
      const cut = cuts.find(
        (each) =>
          each.direction === direction &&
          (each.on ?? (each.match === undefined ? connection : undefined)) === connection,
      )
      if (!cut) return undefined
      cut.on = connection
      const passing = Math.min(length, cut.bytesLeft)
      cut.bytesLeft -= passing
      if (cut.bytesLeft > 0) return undefined
      take(cuts, (each) => each === cut)
      cut.happened()
      return passing
    },
  }
  return { startups, responses, cuts, orders }
}

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, HOST, resolve)
  })
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('The proxy has no port')
  return address.port
}

/** Starts a proxy before the PostgreSQL on `targetPort` of 127.0.0.1; it ends with its owner. */
export async function startPostgresProxy(owner: Lifetime, targetPort: number): Promise<PostgresProxy> {
  const { startups, responses, cuts, orders } = startOrders()
  const relays = new Set<Relay>()
  let isRejecting = false
  let isStalled = false
  let port = targetPort

  function admit(client: Socket): void {
    if (isRejecting) {
      client.destroy()
      return
    }
    const connection = relay(client, connect(port, HOST), orders)
    relays.add(connection)
    client.once('close', () => relays.delete(connection))
    if (isStalled) connection.stall()
  }

  const server = createServer({ noDelay: true }, admit)
  const proxy: PostgresProxy = {
    port: await listen(server),
    get connections() {
      return relays.size
    },
    cut() {
      for (const each of relays) each.destroy()
    },
    reject() {
      isRejecting = true
    },
    accept() {
      isRejecting = false
    },
    stall() {
      isStalled = true
      for (const each of relays) each.stall()
    },
    resume() {
      isStalled = false
      for (const each of relays) each.resume()
    },
    target(next) {
      port = next
    },
    cutAfterServerBytes: (bytesLeft, { match } = {}) =>
      new Promise((happened) =>
        cuts.push({ direction: 'server', bytesLeft, match, on: undefined, happened }),
      ),
    cutAfterClientBytes: (bytesLeft, { match } = {}) =>
      new Promise((happened) =>
        cuts.push({ direction: 'client', bytesLeft, match, on: undefined, happened }),
      ),
    respondToNext: (sqlstate, { fatal = false, match } = {}) =>
      new Promise((happened) => responses.push({ sqlstate, isFatal: fatal, match, happened })),
    respondToNextStartup: (sqlstate) =>
      new Promise((happened) => startups.push({ sqlstate, isFatal: true, match: undefined, happened })),
  }
  owner.after(async () => {
    proxy.reject()
    proxy.cut()
    await new Promise((resolve) => server.close(resolve))
  })
  return proxy
}
