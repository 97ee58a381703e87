import {
  type CompletionFlag,
  type CompletionTree,
  type CompletionValue,
  commandsIn,
  stepTo,
} from './completion-tree.ts'

/** A completion script for fish. */
export function fishCompletion(root: CompletionTree): string {
  const all = commandsIn(root).map((command) => quoted(stepTo(command)))
  return `# fish completion of plantstore
function __plantstore_is
    set -l command ''
    for word in (commandline -opc)[2..-1]
        switch "$command $word"
            case ${all.join(' ')}
                set command (string trim -- "$command $word")
        end
    end
    test "$command" = "$argv[1]"
end

complete -c plantstore -f
${linesOf(root).join('\n')}
`
}

function linesOf(tree: CompletionTree): string[] {
  const { path, commands, flags, values } = tree
  const here = `__plantstore_is ${quoted(path.join(' '))}`
  const lines = [
    ...commands.map((command) => line(here, `-a ${quoted(command.path.at(-1) ?? '')}`, command.description)),
    ...flags.map((flag) => line(here, flagWords(flag), flag.description)),
    ...values.flatMap((value) => {
      const words = valueWords(value)
      return words === undefined ? [] : [line(here, words, value.name)]
    }),
  ]
  return [...lines, ...commands.flatMap(linesOf)]
}

function line(condition: string, words: string, description: string): string {
  return `complete -c plantstore -n ${quoted(condition)} ${words} -d ${quoted(description)}`
}

function flagWords({ long, short, value }: CompletionFlag): string {
  const names = [`-l ${long.slice(2)}`, ...(short === undefined ? [] : [`-s ${short.slice(1)}`])].join(' ')
  if (value === undefined) return names
  return `${names} ${valueWords(value)?.replace(/^-a/, '-x -a') ?? '-x'}`
}

function valueWords({ choices, isFile }: CompletionValue): string | undefined {
  if (isFile) return '-r -F'
  return choices.length === 0 ? undefined : `-a ${quoted(choices.join(' '))}`
}

function quoted(text: string): string {
  return `'${text.replace(/[\\']/g, '\\$&')}'`
}
