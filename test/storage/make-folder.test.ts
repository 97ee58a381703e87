import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { makeFolder } from '../../src/storage/make-folder.ts'
import { temporaryFolder } from '../support/http/start-app.ts'

const mayMount = process.platform === 'linux' && process.getuid?.() === 0
const skip = mayMount ? false : 'only root, on Linux, can mount a file system'

test('a folder is created with its parents, for its owner only, and an existing one is not changed', (context) => {
  const folder = join(temporaryFolder(context), 'a', 'b')
  makeFolder(folder)
  makeFolder(folder)
  for (const made of [folder, join(folder, '..')]) assert.equal(statSync(made).mode & 0o777, 0o700)
})

test('the error for a read-only file system says so', { skip }, (context) => {
  const disk = temporaryFolder(context)
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m,ro', 'tmpfs', disk])
  try {
    assert.throws(() => makeFolder(join(disk, 'a')), { code: 'EROFS' })
    assert.throws(() => makeFolder(join(disk, 'a', 'b')), { code: 'EROFS' })
  } finally {
    execFileSync('umount', [disk])
  }
})
