import type { IncomingMessage } from 'node:http'

/** Requests whose bodies may take longer than `requestTimeoutMs`. */
const longRequests = new WeakSet<IncomingMessage>()

/**
 * Exempts a running request from the time limit for a whole request: the reader of its body has a limit of its own.
 */
export function exemptFromTimeout(request: IncomingMessage): void {
  longRequests.add(request)
}

/** Whether a request is exempt from the time limit for a whole request. */
export function isLongRequest(request: IncomingMessage): boolean {
  return longRequests.has(request)
}

/** Whether a response can still be sent: the connection is open, and no earlier response closes it. */
export function isClientConnected({ socket }: IncomingMessage): boolean {
  return !socket.destroyed && socket.writable
}
