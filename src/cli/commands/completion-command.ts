import { type Command, createArgument } from 'commander'
import { print } from '../output/standard-output.ts'
import { parseChoice } from './command-values.ts'

const SHELLS = ['bash', 'zsh', 'fish'] as const
type Shell = (typeof SHELLS)[number]

/**
 * `plantstore completion`: a script that lets a shell complete commands, flags, choices and names of files. It
 * is made of the commands as they are, and needs no plantstore to run while somebody types.
 */
export function addCompletionCommand(program: Command): void {
  program
    .command('completion')
    .description('print a script that lets a shell complete commands, flags and files')
    .addArgument(
      createArgument('<shell>', 'which shell')
        .choices(SHELLS)
        .argParser((text) => parseChoice(text, SHELLS)),
    )
    .addHelpText(
      'after',
      `
In ~/.bashrc:  source <(plantstore completion bash)
In ~/.zshrc, behind compinit:  source <(plantstore completion zsh)

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
      await print(await scripts[shell]())
    })
}
