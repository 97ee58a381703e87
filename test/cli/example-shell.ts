import { execFile } from 'node:child_process'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type Lifetime, type StartedApp, temporaryFolder } from '../support/http/start-app.ts'
import { commandEnvironment, MAIN } from './run-command.ts'

const run = promisify(execFile)

/** A folder in which `plantstore` is a program, as if installed. */
export function shellFolder(test: Lifetime): string {
  const folder = temporaryFolder(test)
  mkdirSync(join(folder, 'bin'))
  const program = join(folder, 'bin', 'plantstore')
  writeFileSync(program, `#!/bin/sh\nexec '${process.execPath}' '${MAIN}' "$@"\n`)
  chmodSync(program, 0o755)
  return folder
}

/** Runs lines of bash in the folder. Throws an error with their output if one of them fails. */
export async function runLines(folder: string, lines: string, app: StartedApp): Promise<string> {
  const path = `${join(folder, 'bin')}:${process.env.PATH}`
  const env = commandEnvironment(app.url, { PATH: path, HOME: folder })
  const { stdout } = await run('bash', ['--norc', '-e', '-o', 'pipefail', '-c', lines], { cwd: folder, env })
  return stdout
}
