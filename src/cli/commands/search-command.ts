import type { Command } from 'commander'
import { addListOptions, type ListFlags, list } from './list-command.ts'

/** `plantstore search`: plants by the words of their names. */
export function addSearchCommand(program: Command): void {
  const command = program
    .command('search')
    .description(
      'list plants whose name has all these words, or words that begin so; blind to case and accents',
    )
    .argument('<words...>', 'what to look for')
  addListOptions(command)
    .addHelpText(
      'after',
      '\nExamples:\n  plantstore search quercus rob\n  plantstore search acai --tag palm --json',
    )
    .action((words: string[], flags: ListFlags) => list(flags, words.join(' ')))
}
