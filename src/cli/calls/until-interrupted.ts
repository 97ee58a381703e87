import { CommandFailure, EXIT_INTERRUPTED, EXIT_TERMINATED } from '../output/command-failure.ts'

const EXIT_CODES = { SIGINT: EXIT_INTERRUPTED, SIGTERM: EXIT_TERMINATED } as const

/**
 * Runs work that Ctrl-C and SIGTERM interrupt: the first one aborts the signal with a CommandFailure as its reason.
 * The second one ends the process at once.
 */
export async function untilInterrupted<Result>(
  run: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const controller = new AbortController()
  const onSignal = (name: NodeJS.Signals) => {
    const exitCode = EXIT_CODES[name as keyof typeof EXIT_CODES]
    if (controller.signal.aborted) return endAtOnce(name)
    controller.abort(new CommandFailure('Interrupted.', exitCode))
  }
  for (const name of Object.keys(EXIT_CODES)) process.on(name, onSignal)
  const removeListeners = () => {
    for (const name of Object.keys(EXIT_CODES)) process.off(name, onSignal)
  }
  // By the default action of the signal: `process.exit` would wait for a thread that is blocked on a pipe.
  const endAtOnce = (name: NodeJS.Signals) => {
    removeListeners()
    process.kill(process.pid, name)
  }
  try {
    return await run(controller.signal)
  } finally {
    removeListeners()
  }
}
