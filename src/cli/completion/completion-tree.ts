import type { Argument, Command, Option } from 'commander'

/** What can be typed after `plantstore`, and after each command. */
export interface CompletionTree {
  /** The words of the command: none, `['list']`, `['token', 'create']`. */
  path: readonly string[]
  description: string
  commands: readonly CompletionTree[]
  flags: readonly CompletionFlag[]
  /** The arguments; `isMany` of the last one if it may be repeated. */
  values: readonly CompletionValue[]
}

export interface CompletionFlag {
  long: string
  short: string | undefined
  description: string
  /** Absent if the flag takes no value. */
  value: CompletionValue | undefined
}

export interface CompletionValue {
  name: string
  choices: readonly string[]
  isFile: boolean
  isMany: boolean
}

/** Describes a command and its subcommands. A value takes a file if its name begins so: `<file>`, `<file or URL>`. */
export function completionTree(command: Command, path: readonly string[] = []): CompletionTree {
  const help = command.createHelp()
  const below = help.visibleCommands(command)
  return {
    path,
    description: command.description(),
    commands: below.map((one) => completionTree(one, [...path, one.name()])),
    flags: help.visibleOptions(command).map(flagIn),
    values: command.registeredArguments.map(valueIn),
  }
}

function flagIn(option: Option): CompletionFlag {
  const { long = '', short, description, flags, required, optional, argChoices, variadic } = option
  const name = /[<[]([^>\].]+)/.exec(flags)?.[1] ?? ''
  const value = { name, choices: argChoices ?? [], isFile: name.startsWith('file'), isMany: variadic }
  return { long, short, description, value: required || optional ? value : undefined }
}

function valueIn(argument: Argument): CompletionValue {
  const name = argument.name()
  const { argChoices = [], variadic } = argument
  return { name, choices: argChoices, isFile: name.startsWith('file'), isMany: variadic }
}

/** All subcommands, at any depth. */
export function commandsIn(tree: CompletionTree): CompletionTree[] {
  return tree.commands.flatMap((command) => [command, ...commandsIn(command)])
}

/** The parent's words and this command's, as a script compares them. */
export function stepTo({ path }: CompletionTree): string {
  return `${path.slice(0, -1).join(' ')} ${path.at(-1)}`
}
