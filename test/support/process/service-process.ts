import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { PATIENT } from '../http/start-app.ts'
import { serviceEnvironment } from '../shared-variables.ts'

const PROGRAM = fileURLToPath(new URL('../../../src/cli/main.ts', import.meta.url))
const TOKEN = 'test-token-with-every-scope'
const START_TIMEOUT_MS = 30_000

/** What the service responded: the status, and the parsed body where there was one. */
export interface Response {
  status: number
  body: unknown
  headers: Headers
}

export interface ServiceProcess {
  pid: number
  /** A request with a token of every scope. Rejects when the connection breaks before the response is there. */
  request(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Response>
  /** Ends the process on the spot, as a crash or a power cut would. */
  crash(): Promise<void>
  /** Asks the process to stop, and returns its exit code. */
  stop(): Promise<number | null>
  /** What it wrote to stderr so far. */
  errors(): string
}

export interface ServiceOptions {
  database: string
  /** Settings, and other variables of the environment. */
  environment?: Record<string, string>
  /** A program that runs the service, with its arguments before those that start it. */
  launcher?: readonly string[]
}

/** Runs `plantstore serve` as a process of its own on a free port, and fulfils when it responds. */
export async function startService(
  owner: { after(end: () => void): void },
  { database, environment = {}, launcher = [] }: ServiceOptions,
): Promise<ServiceProcess> {
  const [program = '', ...flags] = [...launcher, process.execPath, PROGRAM, 'serve']
  const child = spawn(program, flags, {
    env: {
      ...serviceEnvironment(),
      PLANTSTORE_PORT: '0',
      PLANTSTORE_FIXED_TOKEN: TOKEN,
      PLANTSTORE_DATABASE: database,
      ...PATIENT,
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  owner.after(() => void child.kill('SIGKILL'))
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  let errors = ''
  child.stderr.on('data', (chunk) => {
    errors += chunk
  })
  const url = await addressOf(child, () => errors)
  const end = (signal: NodeJS.Signals) => {
    child.kill(signal)
    return ended
  }
  return {
    pid: child.pid ?? 0,
    async request(method, path, body, headers = {}) {
      const init: RequestInit = { method, headers: { authorization: `Bearer ${TOKEN}`, ...headers } }
      if (body !== undefined) {
        init.headers = { ...init.headers, 'content-type': 'application/json' }
        init.body = JSON.stringify(body)
      }
      const response = await fetch(url + path, init)
      const text = await response.text()
      return {
        status: response.status,
        body: text === '' ? undefined : JSON.parse(text),
        headers: response.headers,
      }
    },
    async crash() {
      await end('SIGKILL')
    },
    stop: () => end('SIGTERM'),
    errors: () => errors,
  }
}

/** Waits for the line with the URL of the service. */
function addressOf(child: ChildProcess, errors: () => string): Promise<string> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`no start in time: ${errors()}`)), START_TIMEOUT_MS)
    let output = ''
    child.stdout?.on('data', (chunk) => {
      output += chunk
      const found = /Plant Store is at (\S+)/.exec(output)?.[1]
      if (found === undefined) return
      clearTimeout(timer)
      resolve(found)
    })
    child.once('error', reject)
    child.once('close', (code) => {
      clearTimeout(timer)
      reject(new Error(`the service ended with ${code}: ${errors()}`))
    })
  })
}
