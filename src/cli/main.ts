#!/usr/bin/env -S MALLOC_ARENA_MAX=2 node --max-semi-space-size=4
// The flag bounds the space for young objects: what a request leaves behind is gone with it, and Node's own
// bound takes some 60 MB more. The variable keeps glibc from holding free memory back for each thread: 40 MB.
import { writeSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { setFlagsFromString } from 'node:v8'

const NODE_MAJOR_MIN = 26

if (Number.parseInt(process.versions.node, 10) < NODE_MAJOR_MIN) {
  writeSync(2, `plantstore needs Node.js ${NODE_MAJOR_MIN} or newer; this is ${process.version}.\n`)
  process.exit(1)
}

// What an older Node does not have is loaded from here on only: it would complain of that instead.
const { enableCompileCache } = await import('node:module')

// V8 learns where objects are made that outlive a collection of young ones, and makes them as old ones from then
// on. Under load it learns so of what waits for a shared commit, by chance of the first seconds. What is old is
// collected rarely, and until then keeps everything that it refers to, whole requests: half of the creates.
setFlagsFromString('--no-allocation-site-pretenuring')

// Compiled code is kept for the next start, which then takes half the time; the threads learn of it from the
// environment. It is kept among the packages, not in the shared temporary folder, where somebody else could
// put code of theirs. Where nothing can be written, nothing is kept.
const cacheFolder = fileURLToPath(new URL('../../node_modules/.cache/plantstore', import.meta.url))
enableCompileCache(cacheFolder)
process.env.NODE_COMPILE_CACHE = cacheFolder

await import('./program.ts')
