import { Readable, Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { run } from '../../src/cli/program.ts'
import { type Lifetime, PATIENT, TOKEN } from '../support/http/start-app.ts'

const START_FOLDER = process.cwd()
export const MAIN = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url))

export interface CommandRun {
  code: number
  stdout: string
  stderr: string
}

export interface CommandOptions {
  /** Standard input; empty by default. */
  input?: string | Uint8Array
  /** The working directory. Default: that of the tests. */
  folder?: string
  environment?: Record<string, string>
}

/** The environment in which a command finds a service. */
export function commandEnvironment(url: string, more: Record<string, string> = {}): Record<string, string> {
  return { PATH: process.env.PATH ?? '', PLANTSTORE_URL: url, PLANTSTORE_TOKEN: TOKEN, ...more }
}

/**
 * Runs `plantstore` to its end in this process, with its streams in memory. Concurrent runs share their folder.
 */
export async function runCommand(
  test: Lifetime,
  words: readonly string[],
  { input, folder, environment = {} }: CommandOptions = {},
): Promise<CommandRun> {
  if (folder !== undefined) enterFolder(test, folder)
  const [stdout, stderr] = [collectText(), collectText()]
  const stdin = Readable.from(input === undefined ? [] : [Buffer.from(input)], { objectMode: false })
  const streams = { stdin, stdout: stdout.stream, stderr: stderr.stream }
  const code = await run(words, streams, { PATH: process.env.PATH, ...PATIENT, ...environment })
  return { code, stdout: stdout.text(), stderr: stderr.text() }
}

/** Runs `plantstore` on the service at `url`; an empty variable removes the URL or the token. */
export function commandsOn(test: Lifetime, { url }: { url: string }) {
  return (words: readonly string[], options: CommandOptions = {}): Promise<CommandRun> =>
    runCommand(test, words, { ...options, environment: commandEnvironment(url, options.environment) })
}

function enterFolder(test: Lifetime, folder: string): void {
  process.chdir(folder)
  test.after(() => process.chdir(START_FOLDER))
}

function collectText(): { stream: Writable; text(): string } {
  const chunks: Buffer[] = []
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      chunks.push(chunk)
      done()
    },
  })
  return { stream, text: () => Buffer.concat(chunks).toString() }
}

/** The lines of a text without the last line ending. */
export function linesOf(text: string): string[] {
  return text.replace(/\n$/, '').split('\n')
}
