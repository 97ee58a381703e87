import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'

// Loaded before the command line (--import): copies the folder where it runs before each change of the file system,
// as a process that was killed at that moment would leave it. The name of a copy is the number of the step and the
// inode of `plants.db`. Steps begin with the first second name that a file gets.

const copiesFolder = process.env.COPIES_FOLDER
const hasLinks = process.env.HAS_LINKS !== 'false'
let steps = 0

function step(): void {
  steps++
  // Another process: where this one closed the files of SQLite, their locks would be gone.
  execFileSync('cp', ['-a', '.', `${copiesFolder}/${steps}-${fs.statSync('plants.db').ino}`])
}

const changes = ['renameSync', 'rmSync', 'fsyncSync'] as const
for (const name of changes) {
  const change = fs[name] as (...values: unknown[]) => unknown
  Object.assign(fs, {
    [name](...values: unknown[]) {
      if (steps > 0) step()
      return change(...values)
    },
  })
}
// A copy takes a while, and may be half done.
Object.assign(fs, {
  copyFileSync(from: string, to: string) {
    step()
    const bytes = fs.readFileSync(from)
    fs.writeFileSync(to, bytes.subarray(0, bytes.length / 2))
    step()
    fs.writeFileSync(to, bytes)
  },
})
const link = fs.linkSync
Object.assign(fs, {
  linkSync(path: string, name: string) {
    step()
    if (!hasLinks) throw Object.assign(new Error('no links'), { code: 'EPERM' })
    link(path, name)
  },
})
syncBuiltinESMExports()
