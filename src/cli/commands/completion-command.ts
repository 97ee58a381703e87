import { type Command, createArgument } from 'commander'
import type { CommandContext } from '../command-context.ts'
import { print } from '../output/standard-output.ts'
import { parseChoice } from './command-values.ts'

const SHELLS = ['bash', 'zsh', 'fish'] as const
type Shell = (typeof SHELLS)[number]

/**
 * `plantstore completion`: a script that makes a shell complete commands, flags, choices and file names. It does not
 * run plantstore for a completion.
 */
export function addCompletionCommand(program: Command, context: CommandContext): void {
  program
    .command('completion')
    .description('Print a shell completion script')
    .addArgument(
      createArgument('<shell>', 'Shell')
        .choices(SHELLS)
        .argParser((text) => parseChoice(text, SHELLS)),
    )
    .addHelpText(
      'after',
      `
Add one line to the configuration of your shell:
  ~/.bashrc                   source <(plantstore completion bash)
  ~/.zshrc, after compinit    source <(plantstore completion zsh)

Example:
  plantstore completion fish > ~/.config/fish/completions/plantstore.fish`,
    )
    .action(async (shell: Shell) => {
      const { completionTree } = await import('../completion/completion-tree.ts')
      const tree = completionTree(program)
      const scripts = {
        bash: async () => (await import('../completion/bash-completion.ts')).bashCompletion(tree),
        zsh: async () => (await import('../completion/zsh-completion.ts')).zshCompletion(tree),
        fish: async () => (await import('../completion/fish-completion.ts')).fishCompletion(tree),
      }
      await print(context.stdout, await scripts[shell]())
    })
}
