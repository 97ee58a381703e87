import type { Command } from 'commander'
import type { PlantStoreClient } from '../../client/plant-store-client.ts'
import { addServiceOptions, callService, type Service, type ServiceFlags } from '../calls/service-call.ts'
import type { CommandContext } from '../command-context.ts'
import { CommandFailure } from '../output/command-failure.ts'
import { addJsonOption, type JsonFlag } from '../output/plant-output.ts'
import { print } from '../output/standard-output.ts'
import { parseCount } from './command-values.ts'

interface PingFlags extends ServiceFlags, JsonFlag {
  count: number
  concurrency: number
  ready?: true
}

interface Latencies {
  /** In milliseconds, in any order. */
  latenciesMs: number[]
  /** The message of each failed request. */
  failures: string[]
}

const REQUESTS_DEFAULT = 20
const REQUESTS_MAX = 1_000_000
const CONCURRENCY_MAX = 1_000

/** `plantstore ping`: measures the response times of a service. */
export function addPingCommand(program: Command, context: CommandContext): void {
  const command = program
    .command('ping')
    .description('Measure the response times of a service')
    .option('--count <number>', 'Number of requests', parseCount(REQUESTS_MAX), REQUESTS_DEFAULT)
    .option('--concurrency <number>', 'Number of concurrent requests', parseCount(CONCURRENCY_MAX), 1)
    .option('--ready', 'Request /readyz, which checks the database, instead of /healthz')
  addServiceOptions(addJsonOption(command), { isPublic: true })
    .addHelpText(
      'after',
      '\nThe exit code is 1 if a request failed. Requires no token.\n\nExamples:\n  plantstore ping\n  plantstore ping --count 1000 --concurrency 8 --ready',
    )
    .action((flags: PingFlags) =>
      callService(context, flags, (service) => ping(context, service, flags), { isPublic: true }),
    )
}

async function ping(
  { stdout, stderr }: CommandContext,
  { client, url, signal }: Service,
  flags: PingFlags,
): Promise<void> {
  const { count, concurrency, ready, json } = flags
  const { requestFailure } = await import('../calls/request-failure.ts')
  const request = ready ? client.getReadiness : client.getHealth
  const measured: Latencies = { latenciesMs: [], failures: [] }
  let left = count
  const sendRequests = async () => {
    while (left-- > 0 && !signal.aborted)
      await measure(request, signal, measured, (error) => requestFailure(error, url))
  }
  await Promise.all(Array.from({ length: Math.min(concurrency, count) }, sendRequests))
  const report = reportOf(measured)
  if (json) await print(stdout, `${JSON.stringify({ url, ...report, failures: undefined })}\n`)
  else await print(stdout, reportText(report, `${url}${ready ? '/readyz' : '/healthz'}`))
  for (const [message, times] of Map.groupBy(measured.failures, (message) => message)) {
    stderr.write(`plantstore: ${message}${times.length > 1 ? ` (${times.length} times)` : ''}\n`)
  }
  signal.throwIfAborted()
  if (report.failed > 0) throw new CommandFailure('')
}

async function measure(
  request: PlantStoreClient['getHealth' | 'getReadiness'],
  signal: AbortSignal,
  { latenciesMs, failures }: Latencies,
  failureOf: (error: unknown) => unknown,
): Promise<void> {
  const startMs = performance.now()
  try {
    await request({ signal })
    latenciesMs.push(performance.now() - startMs)
  } catch (error) {
    if (signal.aborted) return
    const failure = failureOf(error)
    if (failure === error) throw error
    failures.push((failure as Error).message)
  }
}

function reportOf({ latenciesMs, failures }: Latencies) {
  const sorted = latenciesMs.toSorted((one, other) => one - other)
  // The nearest-rank percentile: the smallest value that this share does not exceed.
  const at = (share: number) => sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)]
  const [p50, p90, p99, max] = [at(0.5), at(0.9), at(0.99), sorted.at(-1)].map(
    (valueMs) => valueMs && Math.round(valueMs * 1000) / 1000,
  )
  return {
    requests: sorted.length + failures.length,
    failed: failures.length,
    p50Ms: p50,
    p90Ms: p90,
    p99Ms: p99,
    maxMs: max,
  }
}

function reportText(
  { requests, failed, p50Ms, p90Ms, p99Ms, maxMs }: ReturnType<typeof reportOf>,
  url: string,
): string {
  const head = `${requests} ${requests === 1 ? 'request' : 'requests'} to ${url}, ${failed} failed\n`
  if (p50Ms === undefined) return head
  const values = Object.entries({ p50: p50Ms, p90: p90Ms, p99: p99Ms, max: maxMs })
  return `${head}${values.map(([name, valueMs]) => `${name} ${valueMs?.toFixed(2)} ms`).join('  ')}\n`
}
