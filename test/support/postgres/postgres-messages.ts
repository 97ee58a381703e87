/** Types of messages, PostgreSQL's "Message Formats". */
export const PARSE = 'P'
export const BIND = 'B'
export const QUERY = 'Q'
export const SYNC = 'S'
export const READY_FOR_QUERY = 'Z'

/** Codes that an untyped packet, the first of a connection, has where others have a version of the protocol. */
const CANCEL_REQUEST = 80877102
const ENCRYPTION_REQUESTS = [80877103, 80877104]

/** The bytes of a Sync. */
export const SYNC_MESSAGE = messageOf(SYNC, Buffer.alloc(0))
/** The bytes of a Query that ends a transaction. */
export const ROLLBACK_MESSAGE = messageOf(QUERY, Buffer.from('ROLLBACK\0'))

function messageOf(type: string, body: Buffer): Buffer {
  const head = Buffer.from(`${type}\0\0\0\0`)
  head.writeUInt32BE(4 + body.length, 1)
  return Buffer.concat([head, body])
}

/**
 * How long the first message in `bytes` is, undefined while it is not whole. A typed one is a byte and a length
 * that does not count it; an untyped one begins with its length.
 */
export function messageLength(bytes: Buffer, isTyped: boolean): number | undefined {
  const before = isTyped ? 1 : 0
  if (bytes.length < before + 4) return undefined
  const length = before + bytes.readUInt32BE(before)
  return bytes.length < length ? undefined : length
}

export const typeOf = (message: Buffer): string => String.fromCharCode(message[0] ?? 0)

/** What an untyped packet is for. */
export function purposeOf(packet: Buffer): 'startup' | 'encryption' | 'cancel' {
  const code = packet.readUInt32BE(4)
  if (ENCRYPTION_REQUESTS.includes(code)) return 'encryption'
  return code === CANCEL_REQUEST ? 'cancel' : 'startup'
}

/** The strings that a message begins with. */
export function stringsIn(message: Buffer, count: number): string[] {
  return message.toString('utf8', 5).split('\0', count)
}

/** An ErrorResponse. */
export function errorResponse(severity: 'ERROR' | 'FATAL', sqlstate: string): Buffer {
  const fields = [`S${severity}`, `V${severity}`, `C${sqlstate}`, `Mthe proxy of the tests says ${sqlstate}`]
  return messageOf('E', Buffer.from(`${fields.map((field) => `${field}\0`).join('')}\0`))
}

/** A ReadyForQuery that says failed where it said that a transaction is open. */
export function withFailedTransaction(ready: Buffer): Buffer {
  const altered = Buffer.from(ready)
  if (altered[5] === 'T'.charCodeAt(0)) altered[5] = 'E'.charCodeAt(0)
  return altered
}
