/** Why an operation on a file failed, in plain words if the error code is known. */
export function systemReason(error: unknown): string {
  const { code, message } = error as { code?: string; message: string }
  if (code === 'ENAMETOOLONG') return 'its name is too long'
  if (code === 'ELOOP') return 'it is a link that leads back to itself'
  if (code === 'ENOENT') return 'there is no such file or folder'
  if (code === 'EACCES' || code === 'EPERM') return 'permission denied'
  if (code === 'EROFS') return 'the file system is read-only'
  if (code === 'ENOSPC') return 'the disk is full'
  if (code === 'EISDIR') return 'it is a folder'
  if (code === 'ENOTDIR' || code === 'EEXIST') return 'part of its path is not a folder'
  return message
}
