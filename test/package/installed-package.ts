import assert from 'node:assert/strict'
import { type ExecFileException, execFile } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import packageJson from '../../package.json' with { type: 'json' }
import { type Lifetime, temporaryFolder } from '../support/http/start-app.ts'

/** The clone. */
export const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** What the package contains and is built from; the rest of the clone is not part of it. */
const PARTS = [
  ...['package.json', 'src', 'web', 'build', 'LICENSE', 'README.md'],
  ...packageJson.files.filter((file) => !/^(?:dist$|web\/)/.test(file)),
  ...readdirSync(ROOT).filter((name) => /^tsconfig.*\.json$/.test(name)),
]

/** Programs of the clone: `tsc`, `publint`, `attw`. */
export const TOOLS = join(ROOT, 'node_modules/.bin')

/** Variables of the npm that runs the tests, for its scripts. */
const SCRIPT_VARIABLES = /^(?:npm_|NODE_(?!EXTRA_CA_CERTS$)|PLANTSTORE_|INIT_CWD$|PATH$|GIT_COMMIT$)/i
/** Those of them that reach the registry. */
const REGISTRY_VARIABLES =
  /^npm_config_(?:.*registry|ca|cafile|cert|key|.*proxy|strict_ssl|userconfig|globalconfig|cache|\/\/.*)$/i

/** By default npm waits for ten minutes until it gives a registry up. */
const NPM_LIMITS = {
  npm_config_fetch_retries: '1',
  npm_config_fetch_retry_mintimeout: '1000',
  npm_config_fetch_retry_maxtimeout: '1000',
  npm_config_fetch_timeout: '20000',
}
const PROGRAM_TIMEOUT_MS = 120_000

/** The environment of a user with this Node, and with the settings that reach the registry. */
export function environmentOf(node = process.execPath, outer = process.env): Record<string, string> {
  const passed = Object.entries(outer).filter(
    ([name, value]) => value !== undefined && (REGISTRY_VARIABLES.test(name) || !SCRIPT_VARIABLES.test(name)),
  ) as [string, string][]
  const path = (outer.PATH ?? '').split(delimiter).filter((folder) => folder !== TOOLS)
  return { ...Object.fromEntries(passed), ...NPM_LIMITS, PATH: [dirname(node), ...path].join(delimiter) }
}

interface RunOptions {
  /** The Node that programs find; by default the one of the tests. */
  node?: string
  environment?: Record<string, string>
}

/** Runs a program to its end, and returns its exit code, which is not always a failure, and its output. */
export async function run(
  program: string,
  parameters: readonly string[],
  cwd: string,
  { node, environment }: RunOptions = {},
): Promise<{ code: number; stdout: string; stderr: string }> {
  const env = { ...environmentOf(node), ...environment }
  try {
    const output = await promisify(execFile)(program, parameters, { cwd, env, timeout: PROGRAM_TIMEOUT_MS })
    return { code: 0, ...output }
  } catch (error) {
    const {
      code,
      killed,
      stdout = '',
      stderr = '',
    } = error as ExecFileException & { stdout?: string; stderr?: string }
    if (killed) {
      const words = [program, ...parameters].join(' ')
      throw new Error(`"${words}" did not end within ${PROGRAM_TIMEOUT_MS} ms: ${stdout}${stderr}`)
    }
    if (typeof code !== 'number') throw error
    return { code, stdout, stderr }
  }
}

export interface InstalledPackage {
  tarball: string
  /** An empty folder except that the package is installed in it. */
  folder: string
}

/** The sources as they are now, in a folder of their own: while npm packs, package.json is another one. */
export function copySources(test: Lifetime): string {
  const copy = temporaryFolder(test)
  // The clone may have settings of npm.
  for (const part of [...PARTS, '.npmrc'].filter((one) => existsSync(join(ROOT, one)))) {
    cpSync(join(ROOT, part), join(copy, part), { recursive: true })
  }
  symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'))
  return copy
}

/** Packs a folder of `copySources` with these arguments of npm, and installs the tarball in an empty folder. */
export async function installPackage(
  test: Lifetime,
  copy: string,
  { words, environment = {} }: { words: readonly string[]; environment?: Record<string, string> },
): Promise<InstalledPackage> {
  const folder = temporaryFolder(test)
  const packed = await run('npm', words, copy, { environment })
  if (packed.code !== 0) throw new Error(`npm ${words.join(' ')}: ${packed.stdout}${packed.stderr}`)
  const tarball = join(copy, packed.stdout.trim().split('\n').at(-1) ?? '')
  writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }')
  if (existsSync(join(copy, '.npmrc'))) cpSync(join(copy, '.npmrc'), join(folder, '.npmrc'))
  const flags = ['--prefer-offline', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
  const installed = await run('npm', ['install', ...flags, tarball], folder)
  if (installed.code !== 0) throw new Error(`${REGISTRY_HINT}\n${installed.stdout}${installed.stderr}`)
  return { tarball, folder }
}

const REGISTRY_HINT =
  'npm install failed. It needs the registry: check "npm config get registry", its proxy and cafile, and NODE_EXTRA_CA_CERTS.'

/** A Node on this machine that is older than the one of these tests and at least `majorMin`; its path. */
export async function olderNode(majorMin: number): Promise<string | undefined> {
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    const node = join(folder, 'node')
    const { stdout } = await run(node, ['--version'], '/').catch(() => ({ stdout: '' }))
    const major = Number(/^v(\d+)\./.exec(stdout)?.[1])
    if (major >= majorMin && major < Number.parseInt(process.versions.node, 10)) return node
  }
  return undefined
}

/** Files of a folder of the test's own below that of the installed package. */
export function writeFiles(folder: string, files: Record<string, string>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), text)
  }
}

/** Asserts that `publint` and `attw` find nothing wrong with a tarball. */
export async function lintTarball(tarball: string): Promise<void> {
  const [lint, types] = await Promise.all([
    run(join(TOOLS, 'publint'), [tarball, '--strict'], dirname(tarball)),
    // Only ES modules: what require() and resolvers before "exports" make of them does not matter.
    run(join(TOOLS, 'attw'), [tarball, '--profile', 'esm-only', '--no-color'], dirname(tarball)),
  ])
  assert.deepEqual([lint.code, types.code], [0, 0], lint.stdout + lint.stderr + types.stdout + types.stderr)
  assert.match(lint.stdout, /All good/)
  assert.match(types.stdout, /node16 \(from ESM\) │ 🟢/)
}
