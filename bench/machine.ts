import { execFileSync } from 'node:child_process'
import { closeSync, fdatasyncSync, openSync, writeSync } from 'node:fs'
import { cpus, loadavg, release, totalmem, type } from 'node:os'
import { join } from 'node:path'
import { loadTool } from './load.ts'
import { medianOf } from './statistics.ts'

const SYNCS = 200
const SYNC_BYTES = 4096

/**
 * What the numbers depend on beside the code, as pairs of name and value; to be asked before the first load.
 */
export function describeRun(workFolder: string): [string, string][] {
  const processors = cpus()
  return [
    ['Date', new Date().toISOString().slice(0, 10)],
    ['Commit', commit()],
    ['Command', ['npm run bench --', ...process.argv.slice(2)].join(' ')],
    ['Processor', `${processors[0]?.model.trim()}, ${processors.length} cores`],
    ['Memory', `${Math.round(totalmem() / 1e9)} GB`],
    ['System', `${type()} ${release()}, Node ${process.version}`],
    ['Disk', `an fdatasync of 4 KiB takes ${medianSyncMs(workFolder).toFixed(2)} ms (median)`],
    ['Load before', `${loadavg()[0]?.toFixed(2)} processes (average of a minute)`],
    ['Load made by', `${loadTool}, one thread, 64 connections, on the same machine`],
  ]
}

function commit(): string {
  try {
    const git = (...args: string[]) =>
      execFileSync('git', args, {
        cwd: import.meta.dirname,
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore'],
      })
    const isChanged = git('status', '--porcelain', '--untracked-files=no', ':/src', ':/bench').trim() !== ''
    return git('rev-parse', '--short=10', 'HEAD').trim() + (isChanged ? ', with changes not committed' : '')
  } catch {
    return 'unknown'
  }
}

function medianSyncMs(folder: string): number {
  const file = openSync(join(folder, 'sync-probe'), 'w')
  const times: number[] = []
  for (let sync = 0; sync < SYNCS; sync++) {
    const startMs = performance.now()
    writeSync(file, Buffer.alloc(SYNC_BYTES, sync))
    fdatasyncSync(file)
    times.push(performance.now() - startMs)
  }
  closeSync(file)
  return medianOf(times)
}
