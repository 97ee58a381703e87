import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Logger } from 'pino'

/** Time for systemd to hear it. It is told in milliseconds unless the machine is very busy. */
const TELL_TIMEOUT_MS = 30_000

/**
 * Tells systemd that the service is ready, where it waits to hear that on `notifySocket` (sd_notify(3)): a start is
 * then done when the service answers, not before. It is told by systemd's own program, as Node has no Unix sockets
 * for datagrams. Where it cannot be told the log says so, and the service goes on.
 */
export async function notifySystemdReady(notifySocket: string | undefined, log: Logger): Promise<void> {
  if (notifySocket === undefined) return
  try {
    await promisify(execFile)('systemd-notify', ['--ready'], { timeout: TELL_TIMEOUT_MS })
  } catch (error) {
    log.warn(
      { err: error, notifySocket },
      'systemd could not be told that the service is ready: see whether there is a program systemd-notify',
    )
  }
}
