import { Command, CommanderError } from 'commander'
import { suggestion } from '../closest-match.ts'
import type { Environment } from '../config/setting.ts'
import { AppError, SettingError, SetupError } from '../errors.ts'
import { printableLines } from '../printable.ts'
import { readVersion } from '../version.ts'
import type { CommandContext, CommandStreams, OutputStream } from './command-context.ts'
import { CommandFailure, EXIT_FAILURE, EXIT_USAGE } from './output/command-failure.ts'
import { HELP_FORMAT, wrapHelp } from './output/help-text.ts'
import { OutputFailure, print } from './output/standard-output.ts'

type AddCommand = (program: Command, context: CommandContext) => void

/** The groups of commands in the order of the help. Each command adds itself; only the requested one is loaded. */
const COMMAND_GROUPS: Readonly<Record<string, Readonly<Record<string, () => Promise<AddCommand>>>>> = {
  "On the service's machine:": {
    serve: async () => (await import('./commands/serve-command.ts')).addServeCommand,
    token: async () => (await import('./commands/token-command.ts')).addTokenCommand,
    backup: async () => (await import('./commands/backup-command.ts')).addBackupCommand,
    restore: async () => (await import('./commands/restore-command.ts')).addRestoreCommand,
    check: async () => (await import('./commands/check-command.ts')).addCheckCommand,
    copy: async () => (await import('./commands/copy-command.ts')).addCopyCommand,
    migrate: async () => (await import('./commands/migrate-command.ts')).addMigrateCommand,
  },
  'Plants:': {
    create: async () => (await import('./commands/create-command.ts')).addCreateCommand,
    get: async () => (await import('./commands/get-command.ts')).addGetCommand,
    list: async () => (await import('./commands/list-command.ts')).addListCommand,
    search: async () => (await import('./commands/search-command.ts')).addSearchCommand,
    update: async () => (await import('./commands/update-command.ts')).addUpdateCommand,
    delete: async () => (await import('./commands/delete-command.ts')).addDeleteCommand,
    tags: async () => (await import('./commands/tags-command.ts')).addTagsCommand,
    import: async () => (await import('./commands/import-command.ts')).addImportCommand,
    export: async () => (await import('./commands/export-command.ts')).addExportCommand,
  },
  'Tools:': {
    ping: async () => (await import('./commands/ping-command.ts')).addPingCommand,
    openapi: async () => (await import('./commands/openapi-command.ts')).addOpenapiCommand,
    completion: async () => (await import('./commands/completion-command.ts')).addCompletionCommand,
  },
}

const EXAMPLES = `
Examples:
  plantstore serve --port 8080 --database data/plantstore.db
  plantstore create 42 "Quercus robur" --tag tree
  plantstore list --tag tree

Exit codes: 0 success, 1 failure, 2 invalid command line or setting, 130 interrupted.`

/**
 * Runs `plantstore` with these arguments, and resolves to its exit code. Besides its arguments it uses only
 * signals and files of the process. Throws only for a bug.
 */
export async function run(
  parameters: readonly string[],
  streams: CommandStreams,
  environment: Environment,
): Promise<number> {
  const { stdin, stdout, stderr } = streams
  // A failed write is reported where it is awaited (`print`). Other output, such as the log, has no reader any more.
  for (const stream of [stdout, stderr]) stream.on('error', () => undefined)
  const help: string[] = []
  try {
    const program = await createProgram(parameters, { stdin, stdout, stderr, environment }, help)
    showHelpOfCommand(program, parameters)
    await program.parseAsync(parameters, { from: 'user' })
    return 0
  } catch (error) {
    if (help.length === 0) return reportFailure(error, stderr)
    return print(stdout, help.join('')).then(
      () => reportFailure(error, stderr),
      (failure: unknown) => reportFailure(failure, stderr),
    )
  }
}

/**
 * The program with the command that `parameters` begin with, or with every command if they begin with none. Help is
 * collected in `help`, because Commander does not await its own writes.
 */
export async function createProgram(
  parameters: readonly string[],
  context: CommandContext,
  help: string[],
): Promise<Command> {
  const { stdout, stderr } = context
  const widthOf = ({ isTTY, columns }: OutputStream) => (isTTY ? columns : undefined) || 80
  const isVersionRequested = parameters.some((word) => word === '-V' || word === '--version')
  const program = new Command('plantstore')
    .description('Stores plants over HTTP and never loses one.')
    // Other commands need not wait for Git.
    .version(isVersionRequested ? await readVersion() : '', '-V, --version', 'Print the version')
    .helpOption('-h, --help', 'Print this help')
    .showSuggestionAfterError()
    .exitOverride()
    .configureHelp(HELP_FORMAT)
    .configureOutput({
      writeOut: (text) => help.push(wrapHelp(text, widthOf(stdout))),
      // Help; `outputError` writes errors.
      writeErr: (text) => stderr.write(wrapHelp(text, widthOf(stderr))),
      getOutHelpWidth: () => widthOf(stdout),
      getErrHelpWidth: () => widthOf(stderr),
      outputError: (message) => stderr.write(printableLines(withHint(message, program, parameters[0]))),
    })
    .addHelpText('after', EXAMPLES)
  const [first = ''] = parameters
  // A completion script describes all commands.
  const isOneEnough =
    first !== 'completion' && Object.values(COMMAND_GROUPS).some((commands) => Object.hasOwn(commands, first))
  for (const [heading, commands] of Object.entries(COMMAND_GROUPS)) {
    program.commandsGroup(heading)
    const loading = Object.entries(commands)
      .filter(([name]) => name === first || !isOneEnough)
      .map(([, load]) => load())
    for (const addCommand of await Promise.all(loading)) addCommand(program, context)
  }
  // It joins the last group.
  return program.helpCommand('help [command]', 'Print help for a command')
}

/** Writes a line per problem, and returns the exit code. */
function reportFailure(error: unknown, stderr: OutputStream): number {
  // Commander has written its message.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : EXIT_USAGE
  if (error instanceof CommandFailure || error instanceof OutputFailure) {
    if (error.message !== '') stderr.write(`plantstore: ${error.message}\n`)
    return error.exitCode
  }
  if (!(error instanceof SetupError || error instanceof AppError)) throw error
  for (const line of error.message.split('\n')) stderr.write(`plantstore: ${line}\n`)
  return error instanceof SettingError ? EXIT_USAGE : EXIT_FAILURE
}

/** `plantstore help <command> <subcommand>`: Commander supports one level only, and ignores unknown commands. */
function showHelpOfCommand(program: Command, [first, ...names]: readonly string[]): void {
  const [name = '-'] = names
  if (first !== 'help' || name === 'help' || name.startsWith('-')) return
  let command: Command = program
  for (const one of names) {
    const found = command.commands.find((subcommand) => subcommand.name() === one)
    if (found === undefined) {
      const known = command.commands.map((subcommand) => subcommand.name())
      command.error(`error: unknown command '${one}'${suggestion(one, known)}`)
    }
    command = found
  }
  command.help()
}

/** Commander's message in our form. A flag in front of its command gets a hint where to put it. */
function withHint(message: string, program: Command, firstParameter: string | undefined): string {
  const text = message
    .replace(
      /^error: command-argument value '(.*)' is invalid for argument '(.*?)'\./s,
      "error: <$2> cannot be '$1'.",
    )
    .replace(/^error: option '([^']*)' argument '(.*)' is invalid\./s, "error: $1 cannot be '$2'.")
    .replace(/^error: /, 'plantstore: ')
  const [, flag] = /^plantstore: unknown option '(-[^']*)'/.exec(text) ?? []
  if (flag === undefined || flag !== firstParameter) return text
  const owners = program.commands.filter(({ options }) =>
    options.some(({ short, long }) => flag === short || flag === long),
  )
  const [owner] = owners
  if (owner === undefined) return text
  const first = text.split('\n')[0]
  const example = `plantstore ${owner.name()} ${flag}`
  return `${first}\n(Put it after a command${owners.length > 1 ? ', for example' : ''}: ${example}.)\n`
}
