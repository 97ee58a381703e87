import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Lifetime } from './http/start-app.ts'

/** Why a test that mounts a disk is skipped; false where it is not. */
export const MOUNTING_SKIP =
  process.platform === 'linux' && process.getuid?.() === 0
    ? false
    : 'only root, on Linux, can mount a small file system'

/** A disk of 8 MiB that goes with the test; undefined where it may not be mounted. */
export function mountSmallDisk(test: Lifetime): string | undefined {
  const disk = mkdtempSync(join(tmpdir(), 'plantstore-disk-'))
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=8m,mode=700', 'tmpfs', disk], { stdio: 'ignore' })
  } catch {
    rmdirSync(disk)
    return undefined
  }
  test.after(() => {
    // Lazily, as the service may be using it until the end.
    execFileSync('umount', ['--lazy', disk])
    rmdirSync(disk)
  })
  return disk
}
