import { execFileSync, spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { postgresAccount, postgresEnvironment, postgresProgram } from './postgres-installation.ts'

/** Where Linux says which children a process has. */
const childrenFile = (pid: number) => `/proc/${pid}/task/${pid}/children`
/** Makes the kernel shut PostgreSQL down when the tests die without saying so. Of util-linux, so on any Linux. */
const SETPRIV = '/usr/bin/setpriv'
const DIES_WITH_PARENT = existsSync(SETPRIV) ? [SETPRIV, '--pdeathsig', 'QUIT'] : []

/** A postmaster and the processes that it made. */
export interface PostgresProcess {
  readonly isRunning: boolean
  /** Signals the postmaster; waits until all of its processes are gone. */
  end(signal: 'SIGINT' | 'SIGQUIT'): Promise<void>
  /** Ends all of its processes at once, as a loss of power would; waits until they are gone. */
  kill(): Promise<void>
}

function childrenOf(pid: number): number[] {
  if (existsSync(childrenFile(pid))) {
    return readFileSync(childrenFile(pid), 'utf8').split(' ').filter(Boolean).map(Number)
  }
  return execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' })
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number))
    .flatMap(([child, parent]) => (child !== undefined && parent === pid ? [child] : []))
}

/** Kills what is still there. */
function killProcess(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

/** Runs `postgres` with these parameters in a folder; `write` gets what it logs. */
export function runPostgres(
  parameters: string[],
  home: string,
  write: (text: string) => void,
): PostgresProcess {
  const [program = '', ...rest] = [...DIES_WITH_PARENT, postgresProgram('postgres'), ...parameters]
  const child = spawn(program, rest, {
    cwd: home,
    env: postgresEnvironment(home),
    stdio: ['ignore', 'ignore', 'pipe'],
    ...postgresAccount(),
  })
  let isRunning = true
  child.stderr.setEncoding('utf8').on('data', write)
  child.once('error', (error) => write(`${error}\n`))
  // Every process of the server holds the pipe of the log: it closes when the last of them is gone.
  const gone = new Promise<void>((resolve) => {
    child.once('close', () => {
      isRunning = false
      resolve()
    })
  })
  return {
    get isRunning() {
      return isRunning
    },
    async end(signal) {
      child.kill(signal)
      await gone
    },
    async kill() {
      const { pid } = child
      if (isRunning && pid !== undefined && child.exitCode === null && child.signalCode === null) {
        // Stopped first, so that it makes no child that was not counted.
        child.kill('SIGSTOP')
        const children = childrenOf(pid)
        for (const each of [pid, ...children]) killProcess(each)
      }
      await gone
    },
  }
}
