import { spawn, spawnSync } from 'node:child_process'
import { stripVTControlCharacters } from 'node:util'
import { eventually } from '../support/eventually.ts'
import type { Lifetime } from '../support/http/start-app.ts'
import { commandEnvironment, MAIN } from './run-command.ts'

/** Why to skip a test that needs a terminal: `script` of util-linux, which creates one, is missing. */
export const NO_TERMINAL: string | false =
  spawnSync('script', ['--version'], { encoding: 'utf8' }).stdout?.includes('util-linux') !== true &&
  'no program "script" of util-linux'

export interface Terminal {
  /** Everything written to it so far. */
  readonly raw: string
  /** The same without control sequences. Redrawn lines of a progress bar follow each other. */
  readonly text: string
  type(text: string): void
  /** Waits until the text matches. */
  shows(pattern: RegExp): Promise<void>
  exit: Promise<number>
}

export interface TerminalOptions {
  columns?: number
  folder?: string
  environment?: Record<string, string>
}

/** Runs `plantstore` with these words in a new terminal. The test ends it. */
export function inTerminal(
  test: Lifetime,
  url: string,
  words: readonly string[],
  { columns = 100, folder, environment = {} }: TerminalOptions = {},
): Terminal {
  const command = [process.execPath, MAIN, ...words].map((word) => `'${word.replaceAll("'", "'\\''")}'`)
  return startTerminal(test, `stty cols ${columns} -echo; exec ${command.join(' ')}`, {
    environment: commandEnvironment(url, environment),
    folder,
  })
}

/** Runs a line of the shell in a new terminal. */
export function startTerminal(
  test: Lifetime,
  line: string,
  { environment, folder }: { environment: Record<string, string>; folder?: string | undefined },
): Terminal {
  const child = spawn('script', ['-qefc', line, '/dev/null'], {
    env: { TERM: 'xterm-256color', ...environment },
    ...(folder !== undefined && { cwd: folder }),
  })
  let raw = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      raw += chunk
    })
  }
  child.stdin.on('error', () => undefined)
  const exit = new Promise<number>((resolve) => {
    child.once('close', (code) => resolve(code ?? -1))
  })
  test.after(async () => {
    // Closing the terminal sends SIGHUP. An interactive shell ignores other signals.
    child.kill('SIGKILL')
    await exit
  })
  const terminal: Terminal = {
    get raw() {
      return raw
    },
    get text() {
      // Each redraw of a bar begins at the first column.
      return stripVTControlCharacters(raw.replaceAll('\u001b[1G', '\n').replaceAll('\r\n', '\n'))
    },
    type: (text) => void child.stdin.write(text),
    async shows(pattern) {
      await eventually(() => pattern.test(terminal.text), 10_000)
    },
    exit,
  }
  return terminal
}
