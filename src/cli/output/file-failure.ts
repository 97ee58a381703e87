import { printable } from '../../printable.ts'
import { CommandFailure } from './command-failure.ts'

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'no such file or folder',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EISDIR: 'it is a folder',
  ENOTDIR: 'part of its path is not a folder',
  ENOSPC: 'no space left',
  EROFS: 'the file system is read-only',
}

/** The CommandFailure for a file that cannot be read or written; any other error is returned unchanged. */
export function fileFailure(doing: 'read' | 'write', path: string, error: unknown): unknown {
  const { code, syscall } = error as NodeJS.ErrnoException
  if (code === undefined || syscall === undefined) return error
  return new CommandFailure(`Cannot ${doing} ${printable(path)}: ${reasonOf(code)}.`)
}

/** The meaning of a system error code. */
export function reasonOf(code: string): string {
  return REASONS[code] ?? code
}
