import { type Command, Help, type HelpConfiguration } from 'commander'

/** Wider terms have their description below them: the settings of `serve` would leave no room for it. */
const TERM_WIDTH_MAX = 26
const INDENT = '  '

/** How Commander formats lists of commands, arguments and options. */
export const HELP_FORMAT: HelpConfiguration = {
  padWidth(command: Command, helper: Help): number {
    return Math.min(TERM_WIDTH_MAX, Help.prototype.padWidth.call(this, command, helper))
  },
  formatItem(term: string, termWidth: number, description: string, helper: Help): string {
    if (description === '') return INDENT + term
    const gap = INDENT.length * 2 + termWidth
    const lines = wrapped(description, (helper.helpWidth ?? 80) - gap)
    const head = INDENT + term.padEnd(termWidth)
    const isLong = term.length > termWidth
    const below = isLong ? lines : lines.slice(1)
    const first = isLong ? head : `${head}${INDENT}${lines[0]}`
    return [first, ...below.map((line) => ' '.repeat(gap) + line)].join('\n')
  },
}

/** Wraps the paragraphs of a help text. Indented lines, such as examples and lists, stay as they are. */
export function wrapHelp(text: string, width: number): string {
  return text.replace(/^(?! ).+(?:\n(?! ).+)*/gm, (paragraph) => wrapped(paragraph, width).join('\n'))
}

/** The lines of a text that is wrapped between words. A longer word has a line of its own. */
function wrapped(text: string, width: number): string[] {
  const lines: string[] = []
  for (const word of text.split(/\s+/)) {
    const line = lines.at(-1)
    if (line === undefined || line.length + 1 + word.length > width) lines.push(word)
    else lines[lines.length - 1] = `${line} ${word}`
  }
  return lines
}
