#!/usr/bin/env -S MALLOC_ARENA_MAX=2 node --max-semi-space-size=4
// The flag bounds the space for young objects: what a request leaves behind is gone with it, and Node's own
// bound takes some 60 MB more. The variable keeps glibc from holding free memory back for each thread: 40 MB.
import { enableCompileCache } from 'node:module'
import { fileURLToPath } from 'node:url'

// Compiled code is kept for the next start, which then takes half the time; the threads learn of it from the
// environment. It is kept among the packages, not in the shared temporary folder, where somebody else could
// put code of theirs.
const cacheFolder = fileURLToPath(new URL('../../node_modules/.cache/plantstore', import.meta.url))
enableCompileCache(cacheFolder)
process.env.NODE_COMPILE_CACHE = cacheFolder

await import('./program.ts')
