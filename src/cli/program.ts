import { Command, CommanderError } from 'commander'
import packageJson from '../../package.json' with { type: 'json' }
import { suggestion } from '../closest-match.ts'
import { AppError, SettingError, SetupError } from '../errors.ts'
import { CommandFailure, EXIT_FAILURE, EXIT_USAGE } from './output/command-failure.ts'
import { printableLines } from './output/printable.ts'
import { watchStandardOutput } from './output/standard-output.ts'

/** Each command adds itself, in the order of the help. Only the one that is asked for is loaded. */
const COMMANDS: Readonly<Record<string, () => Promise<(program: Command) => void>>> = {
  serve: async () => (await import('./commands/serve-command.ts')).addServeCommand,
  token: async () => (await import('./commands/token-command.ts')).addTokenCommand,
  migrate: async () => (await import('./commands/migrate-command.ts')).addMigrateCommand,
  copy: async () => (await import('./commands/copy-command.ts')).addCopyCommand,
  backup: async () => (await import('./commands/backup-command.ts')).addBackupCommand,
  restore: async () => (await import('./commands/restore-command.ts')).addRestoreCommand,
  check: async () => (await import('./commands/check-command.ts')).addCheckCommand,
  add: async () => (await import('./commands/create-command.ts')).addCreateCommand,
  get: async () => (await import('./commands/get-command.ts')).addGetCommand,
  list: async () => (await import('./commands/list-command.ts')).addListCommand,
  search: async () => (await import('./commands/search-command.ts')).addSearchCommand,
  change: async () => (await import('./commands/update-command.ts')).addUpdateCommand,
  remove: async () => (await import('./commands/delete-command.ts')).addDeleteCommand,
  tags: async () => (await import('./commands/tags-command.ts')).addTagsCommand,
  import: async () => (await import('./commands/import-command.ts')).addImportCommand,
  export: async () => (await import('./commands/export-command.ts')).addExportCommand,
  ping: async () => (await import('./commands/ping-command.ts')).addPingCommand,
  openapi: async () => (await import('./commands/openapi-command.ts')).addOpenapiCommand,
  completion: async () => (await import('./commands/completion-command.ts')).addCompletionCommand,
}

const EXAMPLES = `
Examples:
  plantstore serve --port 8080 --database data/plantstore.db
  plantstore add 42 "Quercus robur" --tag tree
  plantstore list --tag tree

Exit codes: 0 well done, 1 something failed, 2 the command line or a setting makes no sense, 130 interrupted.`

const words = process.argv.slice(2)
const program = new Command('plantstore')
  .description('Keeps plants over HTTP and never loses one.')
  .version(packageJson.version, '-V, --version', 'print the version')
  .helpOption('-h, --help', 'print this help')
  .showSuggestionAfterError()
  .exitOverride()
  .configureOutput({ outputError: (message, write) => write(printableLines(withHint(message))) })
  .addHelpText('after', EXAMPLES)

// A completion script is made of all of them.
const asked = words[0] === 'completion' ? undefined : COMMANDS[words[0] ?? '']
const loaded = asked === undefined ? Object.values(COMMANDS) : [asked]
for (const addCommand of await Promise.all(loaded.map((load) => load()))) addCommand(program)

watchStandardOutput()
try {
  helpAbout(words)
  await program.parseAsync()
} catch (error) {
  if (error instanceof CommanderError) {
    // Commander has said it already.
    process.exitCode = error.exitCode === 0 ? 0 : EXIT_USAGE
  } else if (error instanceof CommandFailure) {
    process.stderr.write(`plantstore: ${error.message}\n`)
    process.exitCode = error.exitCode
  } else if (error instanceof SetupError || error instanceof AppError) {
    // One for each setting that is wrong.
    for (const line of error.message.split('\n')) process.stderr.write(`plantstore: ${line}\n`)
    process.exitCode = error instanceof SettingError ? EXIT_USAGE : EXIT_FAILURE
  } else {
    throw error
  }
}

/** `plantstore help <command>`, of commands below others too; ends there. A word that is no command is told. */
function helpAbout([first, ...names]: readonly string[]): void {
  const [name = '-'] = names
  if (first !== 'help' || name === 'help' || name.startsWith('-')) return
  let command: Command = program
  for (const one of names) {
    const found = command.commands.find((below) => below.name() === one)
    if (found === undefined) {
      const known = command.commands.map((below) => below.name())
      command.error(`error: unknown command '${one}'${suggestion(one, known)}`)
    }
    command = found
  }
  command.help()
}

/** Says it as the other errors are said; where a flag stands before its command, tells where it belongs. */
function withHint(message: string): string {
  const text = message
    .replace(
      /^error: command-argument value '(.*)' is invalid for argument '(.*?)'\./s,
      "error: <$2> cannot be '$1'.",
    )
    .replace(/^error: option '([^']*)' argument '(.*)' is invalid\./s, "error: $1 cannot be '$2'.")
    .replace(/^error: /, 'plantstore: ')
  const [, flag] = /^plantstore: unknown option '(-[^']*)'/.exec(text) ?? []
  if (flag === undefined || flag !== words[0]) return text
  const owners = program.commands.filter(({ options }) =>
    options.some(({ short, long }) => flag === short || flag === long),
  )
  const [owner] = owners
  if (owner === undefined) return text
  const first = text.split('\n')[0]
  return `${first}\n(It belongs behind a command: plantstore ${owner.name()} ${flag}${owners.length > 1 ? ', say' : ''}.)\n`
}
