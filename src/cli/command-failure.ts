import { SetupError } from '../errors.ts'

/** Exit codes by convention: 1 for what went wrong, 2 for a command line that makes no sense. */
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

/** Runs what reads flags: a setting that is wrong there is a command line that makes no sense. */
export function usageChecked(read: () => unknown): void {
  try {
    read()
  } catch (error) {
    if (error instanceof SetupError) throw new CommandFailure(error.message, EXIT_USAGE)
    throw error
  }
}
