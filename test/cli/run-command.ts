import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { type Lifetime, TOKEN } from '../support/http/start-app.ts'

export const MAIN = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url))

export interface CommandRun {
  /** The exit code, or the signal that ended it. */
  code: number | NodeJS.Signals
  stdout: string
  stderr: string
}

export interface CommandOptions {
  /** What comes on standard input; nothing by default. */
  input?: string | Uint8Array
  /** Where it runs. */
  folder?: string
  /** Beside the URL and the token of the service; an empty text takes one away. */
  environment?: Record<string, string>
}

/** The environment in which a command finds a service. */
export function commandEnvironment(url: string, more: Record<string, string> = {}): Record<string, string> {
  return { PATH: process.env.PATH ?? '', PLANTSTORE_URL: url, PLANTSTORE_TOKEN: TOKEN, ...more }
}

/** Gives what runs `plantstore` with these words, piped, on the service at `url`, until it ends by itself. */
export function commandsOn(test: Lifetime, { url }: { url: string }) {
  return (
    words: readonly string[],
    { input, folder, environment }: CommandOptions = {},
  ): Promise<CommandRun> => {
    const child = spawn(process.execPath, [MAIN, ...words], {
      env: commandEnvironment(url, environment),
      ...(folder !== undefined && { cwd: folder }),
    })
    test.after(() => void child.kill('SIGKILL'))
    let stdout = ''
    let stderr = ''
    child.stdout.setEncoding('utf8').on('data', (piece: string) => {
      stdout += piece
    })
    child.stderr.setEncoding('utf8').on('data', (piece: string) => {
      stderr += piece
    })
    // It may end without having read it all.
    child.stdin.on('error', () => undefined)
    child.stdin.end(input)
    return new Promise((resolve) => {
      child.once('close', (code, signal) => resolve({ code: code ?? signal ?? 'SIGKILL', stdout, stderr }))
    })
  }
}

/** The lines of a text without the last line ending. */
export function linesOf(text: string): string[] {
  return text.replace(/\n$/, '').split('\n')
}
