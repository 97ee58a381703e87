import { Command, CommanderError } from 'commander'
import packageJson from '../../package.json' with { type: 'json' }
import { AppError, SetupError } from '../errors.ts'
import { addCopyCommand } from './copy-command.ts'
import { addMigrateCommand } from './migrate-command.ts'
import { addServeCommand } from './serve-command.ts'
import { addTokenCommand } from './token-command.ts'

/** Exit codes: 1 for what went wrong, 2 for a command line that makes no sense. */
const EXIT_FAILURE = 1
const EXIT_USAGE = 2

const program = new Command('plantstore')
  .description('Keeps plants over HTTP and never loses one.')
  .version(packageJson.version, '-V, --version', 'print the version')
  .helpOption('-h, --help', 'print this help')
  .showSuggestionAfterError()
  .exitOverride()
  .addHelpText('after', '\nExample:\n  plantstore serve --port 8080 --database data/plantstore.db')

addServeCommand(program)
addTokenCommand(program)
addMigrateCommand(program)
addCopyCommand(program)

try {
  await program.parseAsync()
} catch (error) {
  if (error instanceof CommanderError) {
    // Commander has said it already.
    process.exitCode = error.exitCode === 0 ? 0 : EXIT_USAGE
  } else if (error instanceof SetupError || error instanceof AppError) {
    process.stderr.write(`plantstore: ${error.message}\n`)
    process.exitCode = EXIT_FAILURE
  } else {
    throw error
  }
}
