import type { Command } from 'commander'
import type { CommandContext } from '../command-context.ts'
import { addListOptions, type ListFlags, list } from './list-command.ts'

/** `plantstore search`: plants by the words of their names. */
export function addSearchCommand(program: Command, context: CommandContext): void {
  const command = program
    .command('search')
    .description('Find plants by the words of their names')
    .argument('<words...>', 'Words, or the beginnings of words')
  addListOptions(command)
    .addHelpText(
      'after',
      '\nLists plants whose names have all the words. Ignores case and accents.\n\nExamples:\n  plantstore search quercus rob\n  plantstore search acai --tag palm --json',
    )
    .action((words: string[], flags: ListFlags) => list(context, flags, words.join(' ')))
}
