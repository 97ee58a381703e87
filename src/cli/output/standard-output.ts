import type { OutputStream } from '../command-context.ts'
import { EXIT_FAILURE } from './command-failure.ts'
import { reasonOf } from './file-failure.ts'

/** Standard output could not be written. No CommandFailure: there is nothing to add to it. */
export class OutputFailure extends Error {
  override readonly name = 'OutputFailure'
  readonly exitCode: number

  constructor({ code = 'unknown error' }: NodeJS.ErrnoException) {
    // A reader that has seen enough is no failure: `plantstore list | head -1`.
    const isUnread = code === 'EPIPE'
    super(isUnread ? '' : `The output cannot be written: ${reasonOf(code)}.`)
    this.exitCode = isUnread ? 0 : EXIT_FAILURE
  }
}

/**
 * Writes to standard output, and waits until it is written, which bounds the memory for a slow reader. Throws an
 * OutputFailure.
 */
export function print(stdout: OutputStream, text: string | Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    stdout.write(text, (error) => (error ? reject(new OutputFailure(error)) : resolve()))
  })
}
