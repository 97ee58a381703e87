import type { Argument, Command, Option } from 'commander'

/** What can be typed after `plantstore`, and after each command. */
export interface CompletionTree {
  /** The words of the command: none, `['list']`, `['token', 'create']`. */
  path: readonly string[]
  description: string
  commands: readonly CompletionTree[]
  flags: readonly CompletionFlag[]
  /** What stands behind the command; `isMany` of the last one when it may be given again. */
  values: readonly CompletionValue[]
}

export interface CompletionFlag {
  long: string
  short: string | undefined
  description: string
  /** Absent where the flag takes none. */
  value: CompletionValue | undefined
}

export interface CompletionValue {
  name: string
  choices: readonly string[]
  isFile: boolean
  isMany: boolean
}

/** Describes a command and those below it. What takes a file is known by its name: `<file>`, `<file or URL>`. */
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

/** All commands below this one. */
export function commandsIn(tree: CompletionTree): CompletionTree[] {
  return tree.commands.flatMap((command) => [command, ...commandsIn(command)])
}

/** What the command so far and the next word look like, in one, when that word is this command's. */
export function stepTo({ path }: CompletionTree): string {
  return `${path.slice(0, -1).join(' ')} ${path.at(-1)}`
}
