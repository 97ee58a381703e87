import { type ExecFileException, execFile } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { type Lifetime, temporaryFolder } from '../support/http/start-app.ts'

/** The clone. */
export const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** What goes into the package, and what it is made with; the rest of the clone has no part in it. */
const PARTS = ['package.json', 'ops', 'src', 'web', 'build', 'LICENSE', 'README.md']

/** Programs of the clone: `tsc`, `publint`, `attw`. */
export const TOOLS = join(ROOT, 'node_modules/.bin')

/**
 * The environment of a user with this Node: without what the npm that runs the tests sets for its own, but with the
 * certificates of the registry.
 */
export function environmentOf(node = process.execPath): Record<string, string> {
  const kept = Object.entries(process.env).filter(
    ([name, value]) =>
      value !== undefined && !/^(?:npm_|NODE_(?!EXTRA_CA_CERTS$)|PLANTSTORE_|INIT_CWD$|PATH$)/i.test(name),
  ) as [string, string][]
  const path = (process.env.PATH ?? '').split(delimiter).filter((folder) => folder !== TOOLS)
  return { ...Object.fromEntries(kept), PATH: [dirname(node), ...path].join(delimiter) }
}

/** Runs a program to its end. Its exit code, which is not always a failure, and what it wrote. */
export async function run(
  program: string,
  parameters: readonly string[],
  cwd: string,
  node?: string,
): Promise<{ code: number; stdout: string; stderr: string }> {
  try {
    const output = await promisify(execFile)(program, parameters, { cwd, env: environmentOf(node) })
    return { code: 0, ...output }
  } catch (error) {
    const {
      code,
      stdout = '',
      stderr = '',
    } = error as ExecFileException & { stdout?: string; stderr?: string }
    if (typeof code !== 'number') throw error
    return { code, stdout, stderr }
  }
}

export interface InstalledPackage {
  tarball: string
  /** An empty folder save that the package is installed in it. */
  folder: string
}

/**
 * Packs the sources as they are now, and installs the tarball. In a copy: while npm packs, package.json is
 * another one.
 */
export async function installPackage(test: Lifetime): Promise<InstalledPackage> {
  const copy = temporaryFolder(test)
  const folder = temporaryFolder(test)
  const configurations = readdirSync(ROOT).filter((name) => /^tsconfig.*\.json$/.test(name))
  for (const part of [...PARTS, ...configurations]) {
    cpSync(join(ROOT, part), join(copy, part), { recursive: true })
  }
  symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'))
  const packed = await run('npm', ['pack', '--silent'], copy)
  if (packed.code !== 0) throw new Error(`npm pack: ${packed.stdout}${packed.stderr}`)
  const tarball = join(copy, packed.stdout.trim().split('\n').at(-1) ?? '')
  writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }')
  const flags = ['--prefer-offline', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
  const installed = await run('npm', ['install', ...flags, tarball], folder)
  if (installed.code !== 0) throw new Error(`npm install: ${installed.stdout}${installed.stderr}`)
  return { tarball, folder }
}

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
