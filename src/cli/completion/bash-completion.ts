import { type CompletionTree, type CompletionValue, commandsIn, stepTo } from './completion-tree.ts'

/**
 * A completion script for bash 3.2 and newer. It does not need the package bash-completion, and compares the typed
 * words without evaluating them.
 */
export function bashCompletion(root: CompletionTree): string {
  const all = commandsIn(root)
  const steps = all.map(
    (command) => `${quoted(stepTo(command))}) command=${quoted(command.path.join(' '))} ;;`,
  )
  return `# bash completion of plantstore
_plantstore_files() {
  local name
  compopt -o filenames 2>/dev/null
  while IFS= read -r name; do COMPREPLY+=("$name"); done < <(compgen -f -- "$1")
}

_plantstore_words() {
  COMPREPLY=($(compgen -W "$1" -- "$prefix$current"))
  COMPREPLY=("\${COMPREPLY[@]#"$prefix"}")
}

_plantstore() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD - 1]} prefix='' command='' at
  COMPREPLY=()
  # To bash, the equals sign in --format=csv and the colon in plants:read are words of their own.
  if [[ $current == [=:] ]]; then
    [[ $current == : ]] && prefix=$previous: previous=\${COMP_WORDS[COMP_CWORD - 2]}
    current=''
  elif [[ $previous == = ]]; then
    previous=\${COMP_WORDS[COMP_CWORD - 2]}
  elif [[ $previous == : ]]; then
    prefix=\${COMP_WORDS[COMP_CWORD - 2]}: previous=\${COMP_WORDS[COMP_CWORD - 3]}
  fi
  for ((at = 1; at < COMP_CWORD; at++)); do
    case "$command \${COMP_WORDS[at]}" in
${indented(6, steps)}
    esac
  done
  case "$command $previous" in
${indented(4, flagValueCases(all))}
  esac
  if [[ $current == -* ]]; then
    case "$command" in
${indented(6, [root, ...all].map(flagsCase))}
    esac
    return
  fi
  case "$command" in
${indented(4, [root, ...all].flatMap(argumentCase))}
  esac
}

complete -F _plantstore plantstore
`
}

/** The cases that complete the value of a flag. */
function flagValueCases(all: readonly CompletionTree[]): string[] {
  const known: string[] = []
  const unknown: string[] = []
  for (const { path, flags } of all) {
    for (const { long, value } of flags) {
      if (value === undefined) continue
      const step = quoted([...path, long].join(' '))
      const completing = completingOf(value)
      if (completing === undefined) unknown.push(step)
      else known.push(`${step}) ${completing}; return ;;`)
    }
  }
  return [...known, `${unknown.join(' | ')}) return ;;`]
}

function flagsCase({ path, flags }: CompletionTree): string {
  const words = flags.flatMap(({ long, short }) => (short === undefined ? [long] : [long, short]))
  return `${quoted(path.join(' '))}) ${choosing(words)} ;;`
}

function argumentCase({ path, commands, values }: CompletionTree): string[] {
  const names = commands.map((command) => command.path.at(-1) ?? '')
  const choices = [...names, ...values.flatMap((value) => value.choices)]
  const isFile = values.some((value) => value.isFile)
  const completing = completingOf({ choices, isFile })
  return completing === undefined ? [] : [`${quoted(path.join(' '))}) ${completing} ;;`]
}

function completingOf({ choices, isFile }: Pick<CompletionValue, 'choices' | 'isFile'>): string | undefined {
  if (isFile) return '_plantstore_files "$current"'
  return choices.length === 0 ? undefined : choosing(choices)
}

function choosing(words: readonly string[]): string {
  return `_plantstore_words ${quoted(words.join(' '))}`
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}

function indented(columns: number, lines: readonly string[]): string {
  return lines.map((line) => ' '.repeat(columns) + line).join('\n')
}
