/** Exit codes by convention: 1 for a failure, 2 for an invalid command line or setting. */
export const EXIT_FAILURE = 1
export const EXIT_USAGE = 2
/** 128 and the number of the signal. */
export const EXIT_INTERRUPTED = 130
export const EXIT_TERMINATED = 143

/** Ends a command with a line on standard error, without a stack trace, and an exit code. */
export class CommandFailure extends Error {
  override readonly name = 'CommandFailure'
  readonly exitCode: number

  /** An empty message prints no line: the command has reported the failure. */
  constructor(message: string, exitCode = EXIT_FAILURE) {
    super(message)
    this.exitCode = exitCode
  }
}
