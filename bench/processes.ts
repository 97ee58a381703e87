import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'

const START_TIMEOUT_MS = 15_000
/** The service itself takes up to ten seconds for what is in flight. */
const STOP_TIMEOUT_MS = 15_000
const OUTPUT_CHARACTERS_MAX = 4_000

/** Below this share of one core a process counts as quiet. */
const QUIET_SHARE = 0.1
const QUIET_STEP_MS = 100
/** A contender that still works after this long is left to it, and said to. */
const QUIET_TIMEOUT_MS = 30_000
/** Linux counts processor time in hundredths of a second, whatever the machine. */
const MS_PER_TICK = 10

export interface ProcessPlan {
  /** node, unless another program is named. */
  program?: string
  /** For node: a script and what it takes. */
  args: string[]
  env?: Record<string, string>
  cwd?: string
  /** Where it will response, for a server that does not print its URL. */
  url?: string
}

export interface RunningServer {
  pid: number
  url: string
  stop(): Promise<void>
}

const running = new Set<ChildProcess>()

// Whatever ends the runner ends what it started.
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))

/**
 * Starts a server in a process of its own; fulfils when it has printed its URL, or responds at the one given.
 */
export async function startServer(plan: ProcessPlan): Promise<RunningServer> {
  const { child, output, ended } = spawnTracked(plan)
  const deadline = AbortSignal.timeout(START_TIMEOUT_MS)
  const url = await Promise.race([
    plan.url === undefined ? printedUrl(child, output) : respondingUrl(plan.url, deadline),
    ended.then(() => undefined),
    once(deadline, 'abort').then(() => undefined),
  ])
  if (url === undefined || child.pid === undefined) {
    child.kill('SIGKILL')
    throw new Error(`${plan.args.join(' ')} did not start:\n${output()}`)
  }
  let isStopping = false
  void ended.then((status) => {
    if (isStopping) return
    process.stderr.write(
      `${plan.args.join(' ')} ended by itself (${child.signalCode ?? status}):\n${output()}\n`,
    )
  })
  return {
    pid: child.pid,
    url,
    async stop() {
      isStopping = true
      child.kill('SIGTERM')
      const patience = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS)
      await ended
      clearTimeout(patience)
    },
  }
}

/** Runs a program to its end and returns what it printed; throws with that when it fails. */
export async function runToEnd(plan: ProcessPlan): Promise<string> {
  const { output, ended } = spawnTracked(plan)
  if ((await ended) !== 0) throw new Error(`${plan.args.join(' ')} failed:\n${output()}`)
  return output()
}

function spawnTracked({ program = process.execPath, args, env = {}, cwd }: ProcessPlan) {
  // Settings of the service in the caller's environment would make two runs differ.
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('PLANTSTORE_'))
  const child = spawn(program, args, {
    cwd,
    env: { ...Object.fromEntries(inherited), NODE_ENV: 'production', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  running.add(child)
  let text = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      text = (text + chunk.toString()).slice(-OUTPUT_CHARACTERS_MAX)
    })
  }
  const ended = new Promise<number | null>((resolve) => {
    child.once('error', (error) => {
      text += error.message
      resolve(null)
    })
    child.once('close', resolve)
  })
  void ended.then(() => running.delete(child))
  return { child, output: () => text, ended }
}

function printedUrl(child: ChildProcess, output: () => string): Promise<string> {
  return new Promise((resolve) => {
    child.stdout?.on('data', () => {
      const url = /http:\/\/[\d.]+:\d+(?=\s)/.exec(output())?.[0]
      if (url !== undefined) resolve(url)
    })
  })
}

async function respondingUrl(url: string, deadline: AbortSignal): Promise<string | undefined> {
  while (!deadline.aborted) {
    try {
      await fetch(url)
      return url
    } catch {
      await delay(50)
    }
  }
  return undefined
}

/**
 * Resident memory of a process in MB (10⁶ bytes): now, and at its highest. NaN if there is no
 * /proc.
 */
export function residentMb(pid: number): { now: number; peak: number } {
  const status = readProc(`/proc/${pid}/status`)
  const field = (name: string) => {
    const kib = new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]
    return kib === undefined ? Number.NaN : (Number(kib) * 1024) / 1e6
  }
  return { now: field('VmRSS'), peak: field('VmHWM') }
}

/**
 * Waits until a process has nothing more to do, so that what it puts off (an index, a flush) does not slow
 * the one that is measured next.
 */
export async function untilQuiet(name: string, pid: number): Promise<void> {
  const deadlineMs = performance.now() + QUIET_TIMEOUT_MS
  let quietSteps = 0
  while (quietSteps < 2) {
    const before = processorMs(pid)
    await delay(QUIET_STEP_MS)
    quietSteps = processorMs(pid) - before > QUIET_SHARE * QUIET_STEP_MS ? 0 : quietSteps + 1
    if (performance.now() > deadlineMs) {
      process.stderr.write(`${name} is still at work ${QUIET_TIMEOUT_MS / 1000} s after its load.\n`)
      return
    }
  }
}

function processorMs(pid: number): number {
  // The name, in brackets, may hold spaces; user and system time are the 12th and 13th fields after it.
  const fields = readProc(`/proc/${pid}/stat`).split(') ')[1]?.split(' ') ?? []
  return (Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) * MS_PER_TICK
}

function readProc(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
