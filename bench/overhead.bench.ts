import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Contender, TOKEN } from './contender.ts'
import { type Measurement, measureLoad, warmUp } from './load.ts'
import type { BenchOptions } from './options.ts'
import { untilQuiet } from './processes.ts'
import { OURS, PAGE_PATH, seed, startService } from './start-contenders.ts'
import type { Stores } from './stores.ts'

/** Prometheus asks every 15 seconds or so; a measurement of 4 seconds is to have its share of that, and more. */
const SCRAPE_EVERY_MS = 1_000

interface Variant {
  name: string
  /** Settings of the service, by their variables. */
  settings: Record<string, string>
  isScraped?: true
  /** Whether a collector takes its traces. */
  isTraced?: true
}

/** Our service with nothing that watches it, and with what does: each is held against the first. */
const VARIANTS: readonly Variant[] = [
  { name: `${OURS}, unwatched`, settings: { PLANTSTORE_METRICS: 'false' } },
  { name: `${OURS}, metrics, scraped every second`, settings: {}, isScraped: true },
  { name: `${OURS}, metrics and traces`, settings: {}, isScraped: true, isTraced: true },
]

/** What creates cost each variant, a measurement a round; the unwatched one first. */
export interface OverheadReport {
  variants: { name: string; rounds: Measurement[] }[]
}

/** Measures creates with and without what watches the service, in turn, each on a store of its own. */
export async function benchOverhead(
  { rounds, seconds }: BenchOptions,
  stores: Stores,
): Promise<OverheadReport> {
  const started: { contender: Contender; isScraped: boolean }[] = []
  const collector = await startCollector()
  try {
    for (const { name, settings, isScraped = false, isTraced = false } of VARIANTS) {
      const tracing = isTraced ? { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url } : {}
      const server = await startService(await stores.make(), { ...settings, ...tracing })
      started.push({ contender: { ...server, name, pagePath: PAGE_PATH }, isScraped })
      await seed(server.url)
    }
    for (const { contender } of started) {
      await warmUp('create', contender, seconds)
      await untilQuiet(contender.name, contender.pid)
    }
    const variants: OverheadReport['variants'] = started.map(({ contender: { name } }) => ({
      name,
      rounds: [],
    }))
    for (let round = 1; round <= rounds; round++) {
      process.stderr.write(`overhead: round ${round} of ${rounds}\n`)
      // Each is the first as often as the last, as the disk may be slower after what came before.
      const order = round % 2 === 1 ? [...started.entries()] : [...started.entries()].reverse()
      for (const [at, { contender, isScraped }] of order) {
        const scraping = isScraped ? startScraping(contender.url) : undefined
        variants[at]?.rounds.push(await measureLoad('create', contender, seconds))
        await scraping?.stop()
        await untilQuiet(contender.name, contender.pid)
      }
    }
    if (collector.batches() === 0) throw new Error('The collector received nothing')
    return { variants }
  } finally {
    await Promise.all(started.map(({ contender }) => contender.stop()))
    collector.stop()
  }
}

/** Asks for the metrics as Prometheus does; the end throws if one was rejected. */
function startScraping(url: string): { stop(): Promise<void> } {
  const scrapes: Promise<number>[] = []
  const scrape = async () => {
    const response = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${TOKEN}` } })
    await response.text()
    return response.status
  }
  const timer = setInterval(() => scrapes.push(scrape()), SCRAPE_EVERY_MS)
  return {
    async stop() {
      clearInterval(timer)
      for (const status of await Promise.all(scrapes)) {
        if (status !== 200) throw new Error(`A scrape got a response with ${status}`)
      }
    },
  }
}

/** Takes traces over OTLP, counts the batches and lets them fall. */
async function startCollector(): Promise<{ url: string; batches(): number; stop(): void }> {
  let count = 0
  const server = createServer((request, response) => {
    count += 1
    request.resume()
    request.once('end', () => response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    batches: () => count,
    stop() {
      server.close()
      server.closeAllConnections()
    },
  }
}
