import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'

// Loaded before the command line (--import): ends the process as a power cut would, before the change of the file
// system that KILL_AT_STEP counts to. Steps begin with the first second name that a file gets.

const killAtStep = Number(process.env.KILL_AT_STEP)
const hasLinks = process.env.HAS_LINKS !== 'false'
let steps = 0

function step(): void {
  if (++steps === killAtStep) process.kill(process.pid, 'SIGKILL')
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
