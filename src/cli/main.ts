#!/usr/bin/env -S MALLOC_ARENA_MAX=2 node --max-semi-space-size=4
// The flag bounds the space for young objects: the garbage of a request is short-lived, and Node's own bound takes
// some 60 MB more. The variable keeps glibc from retaining free memory for each thread: 40 MB.
import { writeSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { setFlagsFromString } from 'node:v8'

const NODE_MAJOR_MIN = 26

if (Number.parseInt(process.versions.node, 10) < NODE_MAJOR_MIN) {
  writeSync(2, `plantstore needs Node.js ${NODE_MAJOR_MIN} or newer; this is ${process.version}.\n`)
  process.exit(1)
}

// Everything that an older Node lacks is loaded after the check: its error would come first.
const { enableCompileCache } = await import('node:module')

// V8 learns which call sites allocate objects that survive a collection of young ones, and allocates theirs as old
// ones from then on. Under load these become the requests that wait for a shared commit, by chance of the first
// seconds. Old objects are collected rarely and retain whole requests until then: half of the creates.
setFlagsFromString('--no-allocation-site-pretenuring')

// Compiled code is cached for the next start, which then takes half the time; threads find the cache through the
// environment. It is in the package's folder: in the shared temporary folder others could plant code. Where it
// cannot be written, nothing is cached.
const cacheFolder = fileURLToPath(new URL('../../node_modules/.cache/plantstore', import.meta.url))
enableCompileCache(cacheFolder)
process.env.NODE_COMPILE_CACHE = cacheFolder

const { run } = await import('./program.ts')
const exitCode = await run(process.argv.slice(2), process, process.env)
process.exitCode = exitCode
// Once the output is written: a pending request, to a trace collector that does not respond for example, would keep
// the process for seconds.
process.stdout.write('', () => process.exit(exitCode))
