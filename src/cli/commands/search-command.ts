import type { Command } from 'commander'
import type { CommandContext } from '../command-context.ts'
import { addListOptions, type ListFlags, list } from './list-command.ts'

/** `plantstore search`: plants by the words of their names. */
export function addSearchCommand(program: Command, context: CommandContext): void {
  const command = program
    .command('search')
    .description('list plants whose name has words that begin with all of these, ignoring case and accents')
    .argument('<words...>', 'beginnings of words')
  addListOptions(command)
    .addHelpText(
      'after',
      '\nExamples:\n  plantstore search quercus rob\n  plantstore search acai --tag palm --json',
    )
    .action((words: string[], flags: ListFlags) => list(context, flags, words.join(' ')))
}
