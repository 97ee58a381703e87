import type { Command } from 'commander'
import type { PlantStoreClient } from '../../client/plant-store-client.ts'
import { addServiceOptions, callService, type Service, type ServiceFlags } from '../calls/service-call.ts'
import { EXIT_FAILURE } from '../output/command-failure.ts'
import { addJsonOption, type JsonFlag } from '../output/plant-output.ts'
import { print } from '../output/standard-output.ts'
import { parseCount } from './command-values.ts'

interface PingFlags extends ServiceFlags, JsonFlag {
  count: number
  concurrency: number
  ready?: true
}

interface Latencies {
  /** In milliseconds, in no order. */
  latenciesMs: number[]
  /** What each failed request failed with. */
  failures: string[]
}

const REQUESTS_DEFAULT = 20
const REQUESTS_MAX = 1_000_000
const CONCURRENCY_MAX = 1_000

/** `plantstore ping`: how fast a service answers. */
export function addPingCommand(program: Command): void {
  const command = program
    .command('ping')
    .description('ask a service whether it is there, some times, and tell how long it takes')
    .option('--count <number>', 'how many requests', parseCount(REQUESTS_MAX), REQUESTS_DEFAULT)
    .option('--concurrency <number>', 'how many at a time', parseCount(CONCURRENCY_MAX), 1)
    .option('--ready', 'ask whether plants may be asked for (/readyz, which looks at the storage)')
  addServiceOptions(addJsonOption(command), { isPublic: true })
    .addHelpText(
      'after',
      '\nEnds with 1 when a request failed. Needs no token.\n\nExamples:\n  plantstore ping\n  plantstore ping --count 1000 --concurrency 8 --ready',
    )
    .action((flags: PingFlags) => callService(flags, (service) => ping(service, flags), { isPublic: true }))
}

async function ping({ client, url, signal }: Service, flags: PingFlags): Promise<void> {
  const { count, concurrency, ready, json } = flags
  const { requestFailure } = await import('../calls/request-failure.ts')
  const ask = ready ? client.getReadiness : client.getHealth
  const measured: Latencies = { latenciesMs: [], failures: [] }
  let left = count
  const askInTurn = async () => {
    while (left-- > 0 && !signal.aborted)
      await measure(ask, signal, measured, (error) => requestFailure(error, url))
  }
  await Promise.all(Array.from({ length: Math.min(concurrency, count) }, askInTurn))
  const report = reportOf(measured)
  if (json) await print(`${JSON.stringify({ url, ...report, failures: undefined })}\n`)
  else await print(reportText(report, `${url}${ready ? '/readyz' : '/healthz'}`))
  for (const [message, times] of Map.groupBy(measured.failures, (message) => message)) {
    process.stderr.write(`plantstore: ${message}${times.length > 1 ? ` (${times.length} times)` : ''}\n`)
  }
  signal.throwIfAborted()
  if (report.failed > 0) process.exitCode = EXIT_FAILURE
}

async function measure(
  ask: PlantStoreClient['getHealth' | 'getReadiness'],
  signal: AbortSignal,
  { latenciesMs, failures }: Latencies,
  failureOf: (error: unknown) => unknown,
): Promise<void> {
  const startMs = performance.now()
  try {
    await ask({ signal })
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
  // The smallest value that so large a share does not exceed (nearest rank).
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
