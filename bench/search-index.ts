import { setTimeout as delay } from 'node:timers/promises'
import type { Connection } from './connection.ts'

const POLL_MS = 20
const TIMEOUT_MS = 600_000

/** Waits until a search finds a plant with this word. */
export async function untilFound(connection: Connection, word: string): Promise<void> {
  const deadlineMs = performance.now() + TIMEOUT_MS
  for (;;) {
    const { status, body } = await connection.request('GET', `/plants?q=${word}`)
    if (status !== 200) throw new Error(`The response has status ${status}: ${body}`)
    if (body !== '[]') return
    if (performance.now() > deadlineMs) throw new Error('The search index does not catch up with the writes.')
    await delay(POLL_MS)
  }
}
