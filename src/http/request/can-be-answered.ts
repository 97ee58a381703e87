import type { IncomingMessage } from 'node:http'

/** Whether the connection of a request is still there, and not closing behind an answer that came before. */
export function canBeAnswered({ socket }: IncomingMessage): boolean {
  return !socket.destroyed && socket.writable
}
