import { statSync } from 'node:fs'

/** Files that are open, remembered by device and inode. */
export interface OpenedFiles {
  /** Whether their names still lead to them. Costs a few microseconds a file. */
  areInPlace(): boolean
}

/** Remembers the files that these names lead to now. A name that leads to none is never in place. */
export function rememberFiles(...paths: readonly string[]): OpenedFiles {
  const files = paths.map((path) => ({ path, identity: identityOf(path) }))
  return {
    areInPlace: () => files.every(({ path, identity }) => isSame(identity, identityOf(path))),
  }
}

type Identity = { dev: bigint; ino: bigint } | undefined

function identityOf(path: string): Identity {
  try {
    // As bigint: inode numbers of some file systems use all 64 bits.
    return statSync(path, { bigint: true, throwIfNoEntry: false })
  } catch {
    // Nor could the next start open it.
    return undefined
  }
}

function isSame(one: Identity, other: Identity): boolean {
  return one !== undefined && other !== undefined && one.ino === other.ino && one.dev === other.dev
}
