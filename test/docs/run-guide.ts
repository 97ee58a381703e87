import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { runLines, shellFolder } from '../cli/example-shell.ts'
import { type Lifetime, type StartedApp, TOKEN, temporaryFolder } from '../support/http/start-app.ts'
import { codeBlocks } from './documents.ts'

const CLIENT = new URL('../../src/client/plant-store-client.ts', import.meta.url).href
const SCOPES = ['plants:read', 'plants:write', 'tokens:manage']

const run = promisify(execFile)

/** A token such as the first start prints: the fixed one cannot be rotated. */
async function createToken(app: StartedApp): Promise<string> {
  const response = await app.send('POST', '/tokens', JSON.stringify({ label: 'docs', scopes: SCOPES }))
  const { token } = (await response.json()) as { token: string }
  return token
}

/** Runs the curl examples of a guide in order on a service; returns the output of each. */
export async function runCurlExamples(t: Lifetime, app: StartedApp, guide: string): Promise<string[]> {
  const [cwd, token] = [temporaryFolder(t), await createToken(app)]
  const outputs: string[] = []
  for (const block of codeBlocks(guide, 'sh')) {
    const script = block.replaceAll('http://127.0.0.1:8080', app.url)
    const { stdout } = await run('sh', ['-ec', script], { cwd, env: { ...process.env, TOKEN: token } })
    outputs.push(stdout)
  }
  return outputs
}

/** Runs the programs of a guide as one on a service; returns the lines that it prints. */
export async function runPrograms(t: Lifetime, app: StartedApp, guide: string): Promise<string[]> {
  const cwd = temporaryFolder(t)
  const program = codeBlocks(guide, 'js')
    .join('\n')
    .replaceAll('http://127.0.0.1:8080', app.url)
    .replace('plantstore/client', CLIENT)
  writeFileSync(join(cwd, 'program.mjs'), program)
  const env = { ...process.env, PLANTSTORE_TOKEN: TOKEN }
  const { stdout } = await run(process.execPath, ['program.mjs'], { cwd, env })
  return stdout.trim().split('\n')
}

/** Runs the examples of the command line of a guide in order on a service; returns the output of each. */
export async function runCommandLines(t: Lifetime, app: StartedApp, guide: string): Promise<string[]> {
  const folder = shellFolder(t)
  const outputs: string[] = []
  for (const block of codeBlocks(guide, 'bash')) outputs.push(await runLines(folder, block, app))
  return outputs
}
