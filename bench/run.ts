import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { benchLoad } from './load.bench.ts'
import { LOAD_NAMES, readOptions, USAGE } from './options.ts'
import { loadSection } from './report.ts'

const options = readOptionsOrExit()
const workFolder = makeWorkFolder()
process.once('exit', () => rmSync(workFolder, { recursive: true, force: true }))

for (const load of LOAD_NAMES) {
  if (options.only.includes(load)) console.log(loadSection(await benchLoad(load, options, workFolder)))
}

function readOptionsOrExit() {
  try {
    const read = readOptions(process.argv.slice(2))
    if (read !== 'help') return read
    process.stdout.write(USAGE)
    process.exit(0)
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n\n${USAGE}`)
    process.exit(2)
  }
}

/** On the disk that holds the clone: the system's temporary folder is often in memory, where an fsync costs nothing. */
function makeWorkFolder(): string {
  const parent = fileURLToPath(new URL('../data/', import.meta.url))
  mkdirSync(parent, { recursive: true })
  return mkdtempSync(join(parent, 'bench-'))
}
