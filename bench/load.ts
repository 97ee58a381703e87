import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { type Contender, newPlantJson, SEEDED_PLANTS, TOKEN, takeIds } from './contender.ts'
import type { LoadName } from './options.ts'
import { runToEnd } from './processes.ts'

const CONNECTIONS = 64
const WARM_UP_SECONDS_MAX = 5
/** A stalled response is late, not lost: it shows in the latency. */
const RESPONSE_TIMEOUT_SECONDS = 20

/** What a load asks for, in percent; the rest are gets. */
const SHARES: Record<LoadName, { creates: number; lists: number }> = {
  create: { creates: 100, lists: 0 },
  get: { creates: 0, lists: 0 },
  list: { creates: 0, lists: 100 },
  mixed: { creates: 15, lists: 5 },
}

/** One measurement of one contender. */
export interface Measurement {
  perSecond: number
  p50Ms: number
  p99Ms: number
}

/** The tool that makes the load, as results.md names it. */
export const loadTool = spawnSync('wrk', ['--version']).error === undefined ? 'wrk' : 'autocannon'

/** Puts a load on a contender. Throws unless every request got a response, and with 2xx. */
export async function measureLoad(
  name: LoadName,
  contender: Contender,
  seconds: number,
): Promise<Measurement> {
  const result = await applyLoad(name, contender, seconds)
  if (result.rejected > 0 || result.broken > 0 || result.requests === 0) {
    const { requests, rejected, broken } = result
    throw new Error(
      `${contender.name} under ${name}: of ${requests} requests ${rejected} had no 2xx response and ${broken} were aborted.`,
    )
  }
  return { perSecond: result.requests / result.seconds, p50Ms: result.p50Ms, p99Ms: result.p99Ms }
}

/** Puts a load on a contender whatever it shows: beside others the time may be over before anything gets a response. */
export async function warmUp(name: LoadName, contender: Contender, seconds: number): Promise<void> {
  await applyLoad(name, contender, Math.min(WARM_UP_SECONDS_MAX, seconds))
}

async function applyLoad(name: LoadName, contender: Contender, seconds: number): Promise<LoadResult> {
  const run = loadTool === 'wrk' ? runWrk : runAutocannon
  const { url: first, otherUrls = [], pagePath } = contender
  const urls = [first, ...otherUrls]
  const connections = CONNECTIONS / urls.length
  return combine(await Promise.all(urls.map((url) => run(name, { url, pagePath, connections }, seconds))))
}

interface LoadResult {
  requests: number
  seconds: number
  p50Ms: number
  p99Ms: number
  rejected: number
  broken: number
}

/** What the parts of a load that ran side by side showed together: latencies are those of the slowest. */
function combine(results: LoadResult[]): LoadResult {
  const sum = (of: (result: LoadResult) => number) => results.reduce((total, one) => total + of(one), 0)
  const largest = (of: (result: LoadResult) => number) => Math.max(...results.map(of))
  return {
    requests: sum(({ requests }) => requests),
    seconds: largest(({ seconds }) => seconds),
    p50Ms: largest(({ p50Ms }) => p50Ms),
    p99Ms: largest(({ p99Ms }) => p99Ms),
    rejected: sum(({ rejected }) => rejected),
    broken: sum(({ broken }) => broken),
  }
}

/** Where a part of a load goes, and over how many connections. */
interface LoadTarget {
  url: string
  pagePath: string
  connections: number
}

async function runWrk(
  name: LoadName,
  { url, pagePath, connections }: LoadTarget,
  seconds: number,
): Promise<LoadResult> {
  const { creates, lists } = SHARES[name]
  const script = fileURLToPath(new URL('load.lua', import.meta.url))
  // One thread: the other core is for the one that responds.
  const flags = [
    '-t1',
    `-c${connections}`,
    `-d${seconds}s`,
    `--timeout=${RESPONSE_TIMEOUT_SECONDS}s`,
    '-s',
    script,
  ]
  const forScript = [creates, lists, takeIds(), SEEDED_PLANTS, pagePath, TOKEN].map(String)
  const output = await runToEnd({ program: 'wrk', args: [...flags, url, '--', ...forScript] })
  const result = /^RESULT (.+)$/m.exec(output)?.[1]
  if (result === undefined) throw new Error(`wrk did not print a result:\n${output}`)
  return JSON.parse(result) as LoadResult
}

async function runAutocannon(
  name: LoadName,
  { url, pagePath, connections }: LoadTarget,
  seconds: number,
): Promise<LoadResult> {
  const { default: autocannon } = await import('autocannon')
  const { creates, lists } = SHARES[name]
  const headers = { authorization: `Bearer ${TOKEN}` }
  const jsonHeaders = { ...headers, 'content-type': 'application/json' }
  let nextId = takeIds()
  const randomBelow = (limit: number) => Math.floor(Math.random() * limit)

  const result = await autocannon({
    url,
    connections,
    duration: seconds,
    requests: [
      {
        setupRequest(request) {
          const die = randomBelow(100)
          if (die < creates) {
            const body = newPlantJson(nextId++)
            return { ...request, method: 'POST', path: '/plants', headers: jsonHeaders, body }
          }
          const path =
            die < creates + lists
              ? pagePath + randomBelow(SEEDED_PLANTS - 99)
              : `/plants/${1 + randomBelow(SEEDED_PLANTS)}`
          return { ...request, method: 'GET', path, headers }
        },
      },
    ],
  })
  return {
    requests: result.requests.total,
    seconds: result.duration,
    p50Ms: result.latency.p50,
    p99Ms: result.latency.p99,
    rejected: result.non2xx,
    broken: result.errors,
  }
}
