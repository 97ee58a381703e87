import type { OutputStream } from '../command-context.ts'
import { EXIT_FAILURE } from './command-failure.ts'
import { reasonOf } from './file-failure.ts'

/** Standard output could not be written. Not a CommandFailure, so that no command adds to its message. */
export class OutputFailure extends Error {
  override readonly name = 'OutputFailure'
  readonly exitCode: number

  constructor({ code = 'unknown error' }: NodeJS.ErrnoException) {
    // A closed pipe is not a failure: `plantstore list | head -1`.
    const isClosedPipe = code === 'EPIPE'
    super(isClosedPipe ? '' : `Cannot write the output: ${reasonOf(code)}.`)
    this.exitCode = isClosedPipe ? 0 : EXIT_FAILURE
  }
}

/**
 * Writes to standard output and waits until it is written, so a slow reader takes no memory. Throws an OutputFailure.
 */
export function print(stdout: OutputStream, text: string | Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    stdout.write(text, (error) => (error ? reject(new OutputFailure(error)) : resolve()))
  })
}
