import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { eventually } from '../eventually.ts'
import { type Lifetime, PATIENT, TOKEN, temporaryFolder } from '../http/start-app.ts'
import { serviceEnvironment } from '../shared-variables.ts'

const MAIN = fileURLToPath(new URL('../../../src/cli/main.ts', import.meta.url))
/** As `npm start` has them. */
const NODE_FLAGS = ['--max-semi-space-size=4']

/** Only what never starts takes this long: two replicas on a busy machine took ten seconds. */
export const START_PATIENCE_MS = 30_000

/** A run of `plantstore` in a process and a folder of its own. */
export interface PlantstoreProcess {
  child: ChildProcess
  folder: string
  readonly stdout: string
  readonly stderr: string
  /** The exit code, or the signal that ended it. */
  exit: Promise<number | NodeJS.Signals>
}

export interface RunOptions {
  environment?: Record<string, string>
  /** Where it runs; a new folder by default. */
  folder?: string
  /** The user that it runs as. */
  uid?: number
}

/** Starts `plantstore` with these arguments; it is killed when the test ends. */
export function startPlantstore(
  test: Lifetime,
  parameters: readonly string[],
  { environment = {}, folder = temporaryFolder(test), uid }: RunOptions = {},
): PlantstoreProcess {
  const child = spawn(process.execPath, [...NODE_FLAGS, MAIN, ...parameters], {
    cwd: folder,
    env: { ...serviceEnvironment(), ...PATIENT, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(uid !== undefined && { uid, gid: uid }),
  })
  let stdout = ''
  let stderr = ''
  child.stdout.on('data', (chunk) => {
    stdout += chunk
  })
  child.stderr.on('data', (chunk) => {
    stderr += chunk
  })
  const exit = new Promise<number | NodeJS.Signals>((resolve) => {
    child.once('close', (code, signal) => resolve(code ?? signal ?? 'SIGKILL'))
  })
  test.after(async () => {
    child.kill('SIGKILL')
    await exit
  })
  return {
    child,
    folder,
    get stdout() {
      return stdout
    },
    get stderr() {
      return stderr
    },
    exit,
  }
}

/** What a run of `plantstore` that ends by itself has said. */
export async function runPlantstore(test: Lifetime, parameters: readonly string[], options: RunOptions = {}) {
  const run = startPlantstore(test, parameters, options)
  const code = await run.exit
  return { code, stdout: run.stdout, stderr: run.stderr, folder: run.folder }
}

/** Starts `plantstore serve` on a free port and waits until it says where it is. */
export async function startServe(
  test: Lifetime,
  { environment = {}, ...options }: RunOptions = {},
): Promise<PlantstoreProcess & { url: string; port: number }> {
  const settings = { PLANTSTORE_PORT: '0', PLANTSTORE_FIXED_TOKEN: TOKEN, ...environment }
  const run = startPlantstore(test, ['serve'], { environment: settings, ...options })
  const url = await eventually(() => {
    if (run.child.exitCode !== null) throw new Error(`It ended: ${run.stderr}`)
    return /^Plant Store is at (\S+)/m.exec(run.stdout)?.[1]
  }, START_PATIENCE_MS)
  return Object.assign(run, { url, port: Number(new URL(url).port) })
}
