import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Logger } from 'pino'

/** It takes milliseconds unless the machine is very busy. */
const NOTIFY_TIMEOUT_MS = 30_000

/**
 * Notifies systemd that the service is ready, if it waits on `notifySocket` (sd_notify(3)): units ordered after the
 * service then start when it responds. Runs systemd's own program, as Node has no Unix datagram sockets. A failure is
 * logged only.
 */
export async function notifySystemdReady(notifySocket: string | undefined, log: Logger): Promise<void> {
  if (notifySocket === undefined) return
  try {
    await promisify(execFile)('systemd-notify', ['--ready'], { timeout: NOTIFY_TIMEOUT_MS })
  } catch (error) {
    log.warn(
      { err: error, notifySocket },
      'systemd could not be notified that the service is ready: check that the program systemd-notify exists',
    )
  }
}
