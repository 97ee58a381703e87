import type { CompletionFlag, CompletionTree, CompletionValue } from './completion-tree.ts'

/** A completion script for zsh: source it after compinit, or save it as `_plantstore` in the fpath. */
export function zshCompletion(root: CompletionTree): string {
  return `#compdef plantstore
${functionsOf(root).join('\n')}
# When sourced it registers the completion; when loaded by compinit it completes.
if [ "$funcstack[1]" = _plantstore ]; then
  _plantstore "$@"
else
  compdef _plantstore plantstore
fi
`
}

/** A function for the command, and one for each below it. */
function functionsOf(tree: CompletionTree): string[] {
  const { commands, flags, values } = tree
  const specifications = flags.map(flagSpecification)
  if (commands.length === 0) {
    specifications.push(...values.map(valueSpecification))
    return [
      `${nameOf(tree)}() {\n  _arguments -s ${specifications.map((text) => `\\\n    ${quoted(text)}`).join(' ')}\n}`,
    ]
  }
  const described = commands.map(({ path, description }) =>
    quoted(`${path.at(-1)}:${description.replaceAll(':', '\\:')}`),
  )
  const cases = commands.map((command) => `        ${command.path.at(-1)}) ${nameOf(command)} ;;`)
  const own = `${nameOf(tree)}() {
  local context state state_descr line
  typeset -A opt_args
  local -a commands
  commands=(${described.map((text) => `\n    ${text}`).join('')}
  )
  _arguments -C ${specifications.map((text) => `${quoted(text)} `).join('')}'1: :->command' '*:: :->words'
  case $state in
    command) _describe command commands ;;
    words)
      case $line[1] in
${cases.join('\n')}
      esac ;;
  esac
}`
  return [own, ...commands.flatMap(functionsOf)]
}

function nameOf({ path }: CompletionTree): string {
  return ['_plantstore', ...path].join('_')
}

function flagSpecification({ long, description, value }: CompletionFlag): string {
  const shown = `[${description.replace(/[\\[\]]/g, '\\$&')}]`
  if (value === undefined) return `${long}${shown}`
  return `${value.isMany ? '*' : ''}${long}=${shown}:${actionOf(value)}`
}

function valueSpecification(value: CompletionValue, at: number): string {
  return `${value.isMany ? '*' : at + 1}:${actionOf(value)}`
}

function actionOf({ name, choices, isFile }: CompletionValue): string {
  const label = name.replaceAll(':', '\\:')
  if (isFile) return `${label}:_files`
  return choices.length === 0
    ? `${label}: `
    : `${label}:(${choices.map((choice) => choice.replaceAll(':', '\\:')).join(' ')})`
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}
