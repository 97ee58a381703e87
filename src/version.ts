import { execFile } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import packageJson from '../package.json' with { type: 'json' }

/** It takes milliseconds unless the machine is very busy. */
const GIT_TIMEOUT_MS = 5_000

/** Beside the code; `build/write-version.ts` writes it for a package or an image, which have no repository. */
const STAMP = new URL('version.txt', import.meta.url)
const CLONE = new URL('..', import.meta.url)

/**
 * The version of this build: that of the package with the commit, `0.1.0+g1a2b3c4` (semver.org §10), with `-dirty` if
 * tracked files differ from the commit. The version of the package alone if the commit is unknown.
 */
export async function readVersion(): Promise<string> {
  if (existsSync(STAMP)) return readFileSync(STAMP, 'utf8').trim()
  return versionOf(await describeClone(fileURLToPath(CLONE)))
}

/** The version of a commit, given as its hash, which `-dirty` may follow. */
export function versionOf(commit: string): string {
  const [, hash, mark = ''] = /^([0-9a-f]{7})[0-9a-f]*(-dirty)?$/.exec(commit) ?? []
  return hash === undefined ? packageJson.version : `${packageJson.version}+g${hash}${mark}`
}

/** The commit of a clone, empty if there is no repository or no Git. Starts Git, so call it once. */
async function describeClone(folder: string): Promise<string> {
  // Not the repository of a project that has this package installed.
  if (!existsSync(`${folder}.git`)) return ''
  const describe = ['describe', '--always', '--dirty', '--exclude=*', '--abbrev=7']
  try {
    // A named repository may belong to another user: the service's own user does not own its code. The index is not
    // refreshed on disk, as the folder may be read-only.
    const { stdout } = await promisify(execFile)(
      'git',
      ['--no-optional-locks', `--git-dir=${folder}.git`, `--work-tree=${folder}`, ...describe],
      { cwd: folder, timeout: GIT_TIMEOUT_MS },
    )
    return stdout.trim()
  } catch {
    return ''
  }
}
