/** A histogram's name, meaning and upper bounds, the lowest bound first. */
export interface HistogramOptions {
  name: string
  help: string
  buckets: readonly number[]
}

/** One series of a histogram. */
export interface HistogramSeries {
  /** Counts a value, in the unit of the metric. */
  observe(value: number): void
}

export interface Histogram {
  /** Adds a series; call it once for each set of labels. */
  addSeries(labels: Readonly<Record<string, string>>): HistogramSeries
  /** The histogram in Prometheus' text format 0.0.4. */
  text(): string
}

/** What a series has counted: values by bucket, the last one for those beyond all bounds. */
interface SeriesCounts {
  labels: string
  counts: Float64Array
  sum: number
}

/**
 * Counts in arrays and writes the text format itself. The histogram of prom-client validates and hashes its labels for
 * every value, which is a twentieth of the cost of a create.
 */
export function createHistogram({ name, help, buckets }: HistogramOptions): Histogram {
  const allSeries: SeriesCounts[] = []
  const bounds = [...buckets.map(String), '+Inf']

  function linesOf({ labels, counts, sum }: SeriesCounts): string[] {
    let count = 0
    const cumulative = bounds.map((bound, at) => {
      count += counts[at] as number
      return `${name}_bucket{le="${bound}",${labels}} ${count}`
    })
    return [...cumulative, `${name}_sum{${labels}} ${sum}`, `${name}_count{${labels}} ${count}`]
  }

  return {
    addSeries(labels) {
      const series = { labels: labelsText(labels), counts: new Float64Array(bounds.length), sum: 0 }
      allSeries.push(series)
      return {
        observe(value) {
          let bucket = 0
          while (bucket < buckets.length && value > (buckets[bucket] as number)) bucket++
          series.counts[bucket] = (series.counts[bucket] as number) + 1
          series.sum += value
        },
      }
    },
    text: () =>
      [`# HELP ${name} ${help}`, `# TYPE ${name} histogram`, ...allSeries.flatMap(linesOf), ''].join('\n'),
  }
}

function labelsText(labels: Readonly<Record<string, string>>): string {
  const escaped = (value: string) => value.replace(/[\\"]/g, '\\$&').replaceAll('\n', '\\n')
  return Object.entries(labels)
    .map(([label, value]) => `${label}="${escaped(value)}"`)
    .join(',')
}
