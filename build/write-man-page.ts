// Writes dist/plantstore.1, the man page, from the help of the commands.
import type { EventEmitter } from 'node:events'
import { writeFileSync } from 'node:fs'
import type { Command, Option } from 'commander'
import packageJson from '../package.json' with { type: 'json' }
import { createProgram } from '../src/cli/program.ts'

const PAGE = new URL('../dist/plantstore.1', import.meta.url)

/** The man page in roff (man(7)). */
export async function manPage(): Promise<string> {
  const { stdin, stdout, stderr } = process
  const program = await createProgram([], { stdin, stdout, stderr, environment: {} }, [])
  return [
    `.TH PLANTSTORE 1 "" "Plant Store ${packageJson.version}" "User Commands"`,
    // Flags and names must not be hyphenated.
    ...['.nh', '.ad l'],
    ...['.SH NAME', `plantstore \\- ${roff(program.description().replace(/\.$/, ''))}`],
    ...['.SH SYNOPSIS', `.B plantstore`, `.I command`, `[\\fIoption\\fR ...]`],
    '.SH COMMANDS',
    ...sections(program, 'plantstore'),
    '.SH OPTIONS',
    ...options(program),
    ...afterHelp(program).map((line) =>
      line.replace(/^Examples:$/, '.SH EXAMPLES').replace(/^Exit codes: /, '.SH EXIT STATUS\n'),
    ),
    '',
  ].join('\n')
}

/** The subcommands at any depth, a section each. */
function sections(command: Command, path: string): string[] {
  const below = command.createHelp().visibleCommands(command)
  return below
    .filter((one) => one.name() !== 'help')
    .flatMap((one) => {
      const words = `${path} ${one.name()}`
      return [
        `.SS ${roff(`${words} ${one.usage()}`)}`,
        roff(one.description()),
        ...one.registeredArguments.flatMap((argument) =>
          item(`\\fI${roff(argument.name())}\\fR`, argument.description),
        ),
        ...options(one),
        ...afterHelp(one),
        ...sections(one, words),
      ]
    })
}

/** The options of a command, with the headings of their groups. */
function options(command: Command): string[] {
  const help = command.createHelp()
  const groups = Map.groupBy(help.visibleOptions(command), ({ helpGroupHeading }: Option) => helpGroupHeading)
  return [...groups].flatMap(([heading, members]) => [
    ...(heading === undefined ? [] : ['.PP', `\\fB${roff(heading)}\\fR`]),
    ...members.flatMap((option) => item(`\\fB${roff(option.flags)}\\fR`, help.optionDescription(option))),
  ])
}

function item(term: string, text: string): string[] {
  return ['.TP', term, roff(text)]
}

/** The text after the help of a command. Its indented lines are examples. */
function afterHelp(command: Command): string[] {
  let text = ''
  const write = (more: string) => {
    text += more
  }
  const emitter = command as Command & Pick<EventEmitter, 'emit'>
  emitter.emit('afterHelp', { error: false, command, write })
  let isExample = false
  const lines: string[] = ['.PP']
  for (const line of text.trim().split('\n')) {
    if (line.startsWith(' ') !== isExample) {
      isExample = !isExample
      lines.push(isExample ? '.RS\n.nf' : '.fi\n.RE')
    }
    lines.push(line === '' ? '.PP' : roff(line.trim()))
  }
  return text.trim() === '' ? [] : [...lines, ...(isExample ? ['.fi', '.RE'] : [])]
}

/** A text in which nothing is a request of roff, and characters of a shell stay what they are (groff_char(7)). */
function roff(text: string): string {
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll("'", '\\(aq')
    .replaceAll('`', '\\(ga')
    .replaceAll('^', '\\(ha')
    .replaceAll('~', '\\(ti')
    .replace(/^(?=\.)/gm, '\\&')
}

if (import.meta.main) writeFileSync(PAGE, await manPage())
