import { EXIT_FAILURE } from './command-failure.ts'
import { reasonOf } from './file-failure.ts'

/** Writes to standard output, and waits while its reader does not keep up, so that memory is bounded. */
export async function print(text: string | Uint8Array): Promise<void> {
  if (text.length === 0 || process.stdout.write(text)) return
  await new Promise<void>((resolve) => process.stdout.once('drain', resolve))
}

/**
 * Ends the process quietly when nobody reads its output any more (`plantstore list | head -1`), and with a
 * plain line when it cannot be written.
 */
export function watchStandardOutput(): void {
  process.stdout.on('error', ({ code = 'unknown error' }: NodeJS.ErrnoException) => {
    if (code === 'EPIPE') process.exit()
    process.stderr.write(`plantstore: The output cannot be written: ${reasonOf(code)}.\n`)
    process.exit(EXIT_FAILURE)
  })
  // Nobody is left to be told.
  process.stderr.on('error', () => undefined)
}

/** From here on the process goes on when its output is read by nobody, or cannot be written. */
export function goOnWithoutOutput(): void {
  process.stdout.removeAllListeners('error').on('error', () => undefined)
}
