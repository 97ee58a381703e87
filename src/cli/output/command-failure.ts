/** Exit codes by convention: 1 for what went wrong, 2 for a command line, or a setting, that makes no sense. */
export const EXIT_FAILURE = 1
export const EXIT_USAGE = 2
/** 128 and the number of the signal. */
export const EXIT_INTERRUPTED = 130
export const EXIT_TERMINATED = 143

/** What ends a command: a plain line for standard error, without a stack trace, and the exit code. */
export class CommandFailure extends Error {
  override readonly name = 'CommandFailure'
  readonly exitCode: number

  constructor(message: string, exitCode = EXIT_FAILURE) {
    super(message)
    this.exitCode = exitCode
  }
}
