import { execFile } from 'node:child_process'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type Lifetime, type StartedApp, temporaryFolder } from '../support/http/start-app.ts'
import { commandEnvironment, MAIN } from './run-command.ts'

const run = promisify(execFile)

/** A folder in which `plantstore` is a program, as if installed. `npx plantstore` runs it without the second of npx. */
export function shellFolder(test: Lifetime): string {
  const folder = temporaryFolder(test)
  mkdirSync(join(folder, 'bin'))
  writeProgram(join(folder, 'bin', 'plantstore'), `exec '${process.execPath}' '${MAIN}' "$@"`)
  writeProgram(join(folder, 'bin', 'npx'), 'exec "$@"')
  return folder
}

function writeProgram(file: string, line: string): void {
  writeFileSync(file, `#!/bin/sh\n${line}\n`)
  chmodSync(file, 0o755)
}

/** Runs lines of bash in the folder. Throws an error with their output if one of them fails. */
export async function runLines(folder: string, lines: string, app: StartedApp): Promise<string> {
  const path = `${join(folder, 'bin')}:${process.env.PATH}`
  const env = commandEnvironment(app.url, { PATH: path, HOME: folder })
  const { stdout } = await run('bash', ['--norc', '-e', '-o', 'pipefail', '-c', lines], { cwd: folder, env })
  return stdout
}
