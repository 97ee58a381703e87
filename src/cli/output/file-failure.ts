import { CommandFailure } from './command-failure.ts'
import { printable } from './printable.ts'

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file or folder',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EISDIR: 'it is a folder',
  ENOTDIR: 'part of its path is not a folder',
  ENOSPC: 'no space is left',
  EROFS: 'the file system is read-only',
}

/** What people are told when a file cannot be read or written; whatever else went wrong stays as it is. */
export function fileFailure(doing: 'read' | 'write', path: string, error: unknown): unknown {
  const { code, syscall } = error as NodeJS.ErrnoException
  if (code === undefined || syscall === undefined) return error
  return new CommandFailure(`${printable(path)}: cannot ${doing} it: ${reasonOf(code)}.`)
}

/** What the code of a failed call to the system says in plain words. */
export function reasonOf(code: string): string {
  return REASONS[code] ?? code
}
